/** Impact of a name of outside: of a package, or of what files import from one. */
import type { IMPACT, Request } from "../../../contract/questions.ts";
import type { DefinedSymbol } from "../../../engines/relations/question-files.ts";
import { lastPart } from "../../../engines/search/names.ts";
import { numberOf } from "../../../lib/display.ts";
import type { OpenIndexes } from "../code-index.ts";
import { type RelatedReference, relatedReferences, type RelationAnswer } from "../relations/answer.ts";
import { unknownName } from "../unknown.ts";
import { isOwnModule } from "../relations/counts.ts";
import { rankOf, type Relation } from "../relations/found.ts";
import type { Dependent, ImpactFile, ReachingTest } from "./answer.ts";

/** Lines that use the name that are looked at. */
const MAX_USES = 1_000;

export interface OutsideImpact {
  /** The index that has most of the uses. */
  revision: number;
  /** The modules that files take the name from. */
  outside: string[];
  files: ImpactFile[];
  dependents: Dependent[];
  tests: ReachingTest[];
  /** Number of dependents, of which the list is the beginning. */
  total: number;
  truncated: boolean;
}

/**
 * What uses a name that nothing in the indexes defines, as `callers` answers it; of a package, what imports it. Undefined where `definitions` are
 * meant. Throws the error of an unknown name if nothing uses it.
 */
export async function impactOfOutside(
  indexes: OpenIndexes,
  { name, depth }: Pick<Request<typeof IMPACT>, "depth"> & { name: string },
  definitions: readonly DefinedSymbol[],
): Promise<OutsideImpact | undefined> {
  if (definitions.some((each) => lastPart(each.name) === lastPart(name))) return undefined;
  const ask = (relation: Relation) => relatedReferences(indexes, { relation, name, depth, limit: MAX_USES });
  const callers = await ask("callers");
  const { outside } = callers;
  if (!outside) return undefined;
  const isPackage = isOwnModule(name, outside);
  const { references, total, truncated }: RelationAnswer = isPackage ? await ask("importers") : callers;
  if (total === 0) throw await unknownName(indexes, name);
  const revision = mostFrequent(references.map((each) => each.revision));
  const because = ({ certainty }: RelatedReference) =>
    `${isPackage ? "imports" : "uses"} \`${name}\` (${certainty === "name" ? "by name only" : certainty})`;
  const dependents = references.map((each): Dependent => {
    const { path, line, enclosing, certainty, distance } = each;
    return { revision: each.revision, path, line, enclosing, certainty, distance, because: because(each) };
  });
  const tests = await testsAmong(indexes, references);
  const own = references.filter((each) => each.revision === revision);
  const files = [...Map.groupBy(own, ({ path }) => path)].map(([path, uses]): ImpactFile => {
    const [first] = uses as [RelatedReference, ...RelatedReference[]];
    const direct = uses.filter(({ distance }) => distance === 1).length;
    const lines = isPackage ? "" : ` in ${numberOf(direct, "line")}`;
    const away = `is ${first.distance} calls away from a use of \`${name}\``;
    const reason = direct === 0 ? away : `${because(first)}${lines}`;
    return { path, test: tests.has(placeOf(first)), because: [reason] };
  });
  return {
    revision,
    outside,
    files,
    dependents,
    tests: reaching(references.filter((each) => tests.has(placeOf(each)))),
    total,
    truncated: truncated || references.length < total,
  };
}

const placeOf = ({ revision, path }: { revision: number; path: string }): string => `${revision}\n${path}`;

function mostFrequent(revisions: readonly number[]): number {
  const counted = [...Map.groupBy(revisions, (revision) => revision)].map(([revision, all]) => [revision, all.length]);
  const [most = [0]] = counted.sort(([, a = 0], [, b = 0]) => b - a);
  return most[0] ?? 0;
}

/** Which of the files of some uses are tests. */
async function testsAmong(indexes: OpenIndexes, uses: readonly RelatedReference[]): Promise<Set<string>> {
  const tests = new Set<string>();
  for (const [revision, own] of Map.groupBy(uses, (each) => each.revision))
    await indexes.withUses(revision, async (files) => {
      for (const each of own) if (files.isTest(each.path)) tests.add(placeOf(each));
    });
  return tests;
}

/** The definitions around uses in tests, each with the surest of its uses. */
function reaching(uses: readonly RelatedReference[]): ReachingTest[] {
  const found = new Map<string, ReachingTest>();
  for (const { revision, path, enclosing, certainty } of uses) {
    const key = `${revision}\n${path}\n${enclosing ?? ""}`;
    const known = found.get(key);
    if (!known || rankOf(certainty) < rankOf(known.certainty))
      found.set(key, { revision, path, symbol: enclosing, certainty });
  }
  return [...found.values()];
}
