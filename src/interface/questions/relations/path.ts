/** How one definition reaches another: a chain of calls. */
import type { CALL_PATH, Request } from "../../../contract/questions.ts";
import { pathFrom, placeIn } from "../../../engines/relations/marked-paths.ts";
import { mayCall } from "../../../engines/relations/languages.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { FoundSymbol } from "../../../engines/search/types.ts";
import type { OpenIndexes } from "../code-index.ts";
import { CalleesFinder } from "./callees.ts";
import { type Certainty, lessSure, symbolKey, TYPES } from "./found.ts";
import { ImplementationsFinder } from "./implementations.ts";
import { inheritedMembers } from "./inherited.ts";
import { unknownName } from "../unknown.ts";

const MAX_DEFINITIONS = 50;
/** Repositories that are asked. */
const MAX_REVISIONS = 10;
/** Definitions whose calls are followed, and calls in them, for a question. */
const MAX_FOLLOWED = 1_000;
const MAX_CALLS = 20_000;
/** A call known only by name is followed if at most so many definitions have that name. */
const MAX_NAMED = 3;
/** Methods for which those that override them are looked for. */
const MAX_OVERRIDDEN = 200;

/** A definition on the way, and how sure the call is that leads to it, or that what it overrides stands for it; the first one is certain. */
export interface PathStep {
  /** The index that the definition is in. */
  revision: number;
  path: string;
  line: number;
  name: string;
  certainty: Certainty;
}

export interface CallPathAnswer {
  /** The index that the paths begin in. */
  revision: number;
  /** The shortest path to each definition of the name that is reached, the shortest first. */
  paths: PathStep[][];
  /** Not all calls could be followed. */
  truncated: boolean;
}

/**
 * How a definition reaches another through calls, in the first index where one does. If calls alone find no path, methods also lead to those
 * that override them; if that finds none either, calls known only by name are followed to the definitions of that name.
 * Throws `NotFoundError` for a name that no index defines.
 */
export async function callPaths(indexes: OpenIndexes, request: Request<typeof CALL_PATH>): Promise<CallPathAnswer> {
  const [from, to] = [await definitionsOf(indexes, request, "from"), await definitionsOf(indexes, request, "to")];
  let truncated = false;
  for (const [revision, sources] of [...Map.groupBy(from, (each) => each.revision)].slice(0, MAX_REVISIONS)) {
    const targets = to.map((each) => Object.assign({}, each, { path: pathFrom(revision, each) }));
    const found = await indexes.withUses(revision, (_, files) => pathsIn(files, sources, targets, request));
    truncated ||= found.truncated;
    const paths = found.paths.map((steps) => steps.map((step) => ({ ...step, ...placeIn(revision, step.path) })));
    if (paths.length > 0) return { revision, paths, truncated: found.truncated };
  }
  return { revision: from[0]?.revision ?? 0, paths: [], truncated };
}

async function definitionsOf(
  indexes: OpenIndexes,
  request: Request<typeof CALL_PATH>,
  field: "from" | "to",
): Promise<FoundSymbol[]> {
  const name = request[field];
  const { symbols } = await indexes.symbols({ name, match: "exact", limit: MAX_DEFINITIONS });
  const definitions = symbols.length > 0 ? symbols : await inheritedMembers(indexes, name);
  if (definitions.length === 0) throw await unknownName(indexes, name, field);
  return definitions;
}

/** A step, by its path among all files of the question. */
type Step = Omit<PathStep, "revision">;

/** A definition that is reached, and from where. */
interface Reached {
  definition: DefinedSymbol;
  certainty: Certainty;
  by: Reached | undefined;
}

async function pathsIn(
  files: QuestionFiles,
  from: readonly FoundSymbol[],
  to: readonly FoundSymbol[],
  { limit }: Request<typeof CALL_PATH>,
): Promise<{ paths: Step[][]; truncated: boolean }> {
  const finder = new CalleesFinder(files, MAX_CALLS);
  const wanted = new Set(to.map((each) => symbolKey(each)));
  const sources = from.filter(({ language }) => mayCall(language));
  const seen = new Set(sources.map((each) => symbolKey(each)));
  // Breadth first, so the first way to a definition is a shortest one.
  const queue = sources.map((definition): Reached => ({ definition, certainty: "certain", by: undefined }));
  const paths: Step[][] = [];
  const reach = (definition: DefinedSymbol, certainty: Certainty, by: Reached) => {
    const key = symbolKey(definition);
    if (seen.has(key) && !isWayBack(key, wanted, queue)) return;
    const reached = { definition, certainty, by };
    if (wanted.delete(key)) paths.push(stepsTo(reached));
    if (!seen.has(key)) queue.push(reached);
    seen.add(key);
  };
  const overriding = new ImplementationsFinder(files);
  let byName: (Reached & { by: Reached })[] = [];
  let at = 0;
  let overridden = 0;
  while (at < queue.length && at < MAX_FOLLOWED && paths.length < limit) {
    const by = queue[at++] as Reached;
    for (const { certainty, called, named = [] } of await finder.callsIn(by.definition, by.by !== undefined)) {
      if (called) reach(called, certainty, by);
      if (named.length <= MAX_NAMED) byName.push(...named.map((definition) => ({ definition, certainty, by })));
    }
    if (paths.length > 0) continue;
    for (; at === queue.length && overridden < Math.min(at, MAX_OVERRIDDEN); overridden++) {
      const base = queue[overridden] as Reached;
      for (const each of await overridingOf(files, overriding, base.definition))
        reach(each.definition, each.certainty, base);
    }
    if (at < queue.length) continue;
    for (const { definition, certainty, by: caller } of byName) reach(definition, certainty, caller);
    byName = [];
  }
  const isCut = at < queue.length && paths.length < limit;
  return { paths: paths.slice(0, limit), truncated: isCut || finder.truncated || files.exhausted };
}

/** The methods that override one, none of them certain to be called in its place. */
async function overridingOf(
  files: QuestionFiles,
  finder: ImplementationsFinder,
  method: DefinedSymbol,
): Promise<{ definition: DefinedSymbol; certainty: Certainty }[]> {
  if (TYPES.has(method.kind)) return [];
  const found: { definition: DefinedSymbol; certainty: Certainty }[] = [];
  for (const { path, line, certainty } of await finder.find([method], 1)) {
    const definition = (await files.definitionsIn(path)).find(({ startLine }) => startLine === line);
    if (definition && certainty !== "name") found.push({ definition, certainty: lessSure(certainty, "likely") });
  }
  return found;
}

/** Whether a wanted definition is one where the search began: the path back to it is a recursion. */
function isWayBack(key: string, wanted: ReadonlySet<string>, queue: readonly Reached[]): boolean {
  return wanted.has(key) && queue.some(({ definition, by }) => !by && symbolKey(definition) === key);
}

function stepsTo(end: Reached): Step[] {
  const steps: Step[] = [];
  for (let at: Reached | undefined = end; at; at = at.by) {
    const { path: file, startLine: line, qualifiedName: name } = at.definition;
    steps.unshift({ path: file, line, name, certainty: at.certainty });
  }
  return steps;
}
