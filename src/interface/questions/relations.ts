/** Callers, callees and implementations: uses of a definition, each with how sure it is that it means that definition. */
import { CERTAINTIES, type REFERENCES, type Request } from "../../contract/questions.ts";
import { inherits, type LoadUses, type Resolved, resolveUse } from "../../engines/relations/resolve.ts";
import type { FileUses, Use, UseKind } from "../../engines/relations/types.ts";
import { lastPart } from "../../engines/search/names.ts";
import type { FoundReference, FoundSymbol } from "../../engines/search/types.ts";
import { InvalidFieldError, NotFoundError, type OpenIndexes } from "./code-index.ts";

export type Certainty = (typeof CERTAINTIES)[number];

/** A use that belongs to a relation. */
export interface RelatedReference extends FoundReference {
  relation: "callers" | "callees" | "implementations";
  certainty: Certainty;
  /** Calls from the definition that was asked for; 1 is a direct one. */
  distance: number;
  /** The definition that is used; absent where only the name is the same. */
  target?: { path: string; line: number; qualifiedName: string };
}

type RelationRequest = Request<typeof REFERENCES> & { relation: RelatedReference["relation"] };

/** Lines that mention a name that are looked at, and files that are parsed for them; the answer says if there are more. */
const MAX_LINES = 4_000;
const MAX_FILES = 400;
const MAX_DEFINITIONS = 500;
/** Uses inside of the given definitions that are looked at. */
const MAX_CALLEES = 1_000;

const KINDS: Readonly<Record<RelatedReference["relation"], ReadonlySet<UseKind>>> = {
  callers: new Set(["call", "construct", "decorator"]),
  callees: new Set(["call", "construct", "decorator"]),
  implementations: new Set(["inherit"]),
};

export interface RelationAnswer {
  references: RelatedReference[];
  total: number;
  truncated: boolean;
}

/** The uses that a request asks for, certain ones first. Throws `NotFoundError` for a name that no index defines. */
export async function relatedReferences(indexes: OpenIndexes, request: RelationRequest): Promise<RelationAnswer> {
  if (!indexes.uses) {
    const problem = "hosted indexes compare names only; leave it out, or ask codectx in a checkout of the repository";
    throw new InvalidFieldError("relation", problem);
  }
  const load = rememberingUses(indexes.uses.bind(indexes));
  const definitions = await definitionsOf(indexes, request);
  const found =
    request.relation === "callees"
      ? await calleesOf(indexes, definitions, load)
      : await usesOf(indexes, definitions, request, load);
  const rank = ({ certainty }: RelatedReference) => CERTAINTIES.indexOf(certainty);
  const least = CERTAINTIES.indexOf(request.certainty ?? "name");
  const listed = found.references.filter((each) => rank(each) <= least).sort((a, b) => rank(a) - rank(b));
  return {
    references: listed.slice(0, request.limit),
    total: listed.length,
    truncated: found.truncated || listed.length > request.limit,
  };
}

function rememberingUses(load: LoadUses): LoadUses {
  const known = new Map<string, Promise<FileUses | undefined>>();
  return (path) => {
    const uses = known.get(path) ?? load(path);
    known.set(path, uses);
    return uses;
  };
}

/** The definitions of the name, at the given place if there is one. */
async function definitionsOf(indexes: OpenIndexes, request: RelationRequest): Promise<FoundSymbol[]> {
  const { name, path, line } = request;
  const { symbols } = await indexes.symbols({ name, match: "exact", limit: MAX_DEFINITIONS });
  if (symbols.length === 0) {
    const { symbols: similar } = await indexes.symbols({ name, match: "fuzzy", limit: 50 });
    throw new NotFoundError("name", name, [...new Set(similar.map((each) => each.qualifiedName))].slice(0, 5));
  }
  const there = symbols.filter(
    (own) =>
      (path === undefined || own.path === path) &&
      (line === undefined || (own.startLine <= line && line <= own.endLine)),
  );
  if (there.length > 0) return there;
  const places = symbols.slice(0, 5).map((own) => `${own.path}:${own.startLine}`);
  throw new InvalidFieldError("path", `${name} is not defined there, but at ${places.join(", ")}`);
}

async function usesOf(
  indexes: OpenIndexes,
  definitions: readonly FoundSymbol[],
  { name: asked, relation }: RelationRequest,
  load: LoadUses,
): Promise<{ references: RelatedReference[]; truncated: boolean }> {
  const name = lastPart(asked.trim()).replace(/\($/, "");
  const lines = await indexes.references({ name, limit: MAX_LINES });
  const files = Map.groupBy(lines.references, ({ path }) => path);
  // The definitions' own files may hold calls on the lines that define the name.
  for (const { path } of definitions) if (!files.has(path)) files.set(path, []);
  const references: RelatedReference[] = [];
  for (const [path, found] of [...files].slice(0, MAX_FILES)) {
    const uses = await load(path);
    if (!uses) {
      references.push(...callsByName(found, name, relation));
      continue;
    }
    for (const use of uses.uses) {
      if (!KINDS[relation].has(use.kind) || !mayMean(use, name)) continue;
      const judged = await judge(path, use, definitions, load);
      if (!judged) continue;
      const line = found.find((each) => each.line === use.line) ?? (await lineOf(indexes, path, use));
      references.push({ ...line, relation, distance: 1, ...judged });
    }
  }
  return { references: distinct(references), truncated: lines.truncated || files.size > MAX_FILES };
}

/** Whether a use may be one of a name: it is written so, or is an alias of it. */
function mayMean({ name, meaning }: Use, wanted: string): boolean {
  return name === wanted || (meaning.to === "import" && meaning.name === wanted);
}

type Judged = Pick<RelatedReference, "certainty" | "target">;

/** How sure it is that a use means one of the definitions; undefined if it means something else. */
async function judge(
  path: string,
  use: Use,
  definitions: readonly FoundSymbol[],
  load: LoadUses,
): Promise<Judged | undefined> {
  const resolved = await resolveUse(path, use, load);
  if (resolved === "none") return undefined;
  if (resolved === "outside" || resolved === "unknown") return { certainty: "name" };
  const own = definitions.find((each) => each.path === resolved.path && each.startLine === resolved.line);
  if (own) return { certainty: "certain", target: targetOf(own) };
  if (resolved.line === undefined) return undefined;
  for (const each of definitions)
    if (await overrides(each, resolved, load)) return { certainty: "likely", target: targetOf(each) };
  return undefined;
}

/** Whether a definition is a member of a class that inherits from the one whose member the other is. */
async function overrides(own: FoundSymbol, other: Exclude<Resolved, string>, load: LoadUses): Promise<boolean> {
  const classOf = async (path: string, line: number | undefined) =>
    (await load(path))?.classes.find(({ members }) => [...members.values()].some((each) => each.line === line));
  const base = await classOf(other.path, other.line);
  const derived = base && (await classOf(own.path, own.startLine));
  if (!derived) return false;
  return inherits({ path: own.path, line: derived.line }, { path: other.path, line: base.line }, load);
}

const targetOf = ({ path, startLine, qualifiedName }: FoundSymbol) => ({ path, line: startLine, qualifiedName });

/** Lines of a language without rules on which the name stands before a parenthesis. */
function callsByName(
  lines: readonly FoundReference[],
  name: string,
  relation: RelatedReference["relation"],
): RelatedReference[] {
  if (relation !== "callers") return [];
  return lines
    .filter(({ text }) => isCalled(text, name))
    .map((line) => Object.assign({ relation, distance: 1, certainty: "name" as const }, line));
}

function isCalled(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    const after = text.slice(at + name.length).trimStart();
    if (!/[\p{L}\p{N}_$]/u.test(text[at - 1] ?? "") && after.startsWith("(")) return true;
  }
  return false;
}

async function lineOf(indexes: OpenIndexes, path: string, { line, enclosing }: Use): Promise<FoundReference> {
  const lines = await indexes.file(path, line, line);
  return { revision: 0, path, line, text: (lines?.text ?? "").trim().slice(0, 300).toWellFormed(), enclosing };
}

function distinct(references: readonly RelatedReference[]): RelatedReference[] {
  const keyOf = ({ path, line, target }: RelatedReference) => JSON.stringify([path, line, target]);
  return [...new Map(references.map((each) => [keyOf(each), each])).values()];
}

async function calleesOf(
  indexes: OpenIndexes,
  definitions: readonly FoundSymbol[],
  load: LoadUses,
): Promise<{ references: RelatedReference[]; truncated: boolean }> {
  const references: RelatedReference[] = [];
  const named = new Map<string, FoundSymbol[]>();
  const known = async (name: string): Promise<FoundSymbol[]> => {
    const found = named.get(name) ?? (await indexes.symbols({ name, match: "exact", limit: MAX_DEFINITIONS })).symbols;
    named.set(name, found);
    return found.filter((each) => lastPart(each.name) === name);
  };
  let looked = 0;
  for (const { path, startLine, endLine, language } of definitions) {
    const uses = await load(path);
    if (!uses) {
      const problem = `callees are known of TypeScript, JavaScript and Python; ${path} is ${language}`;
      throw new InvalidFieldError("relation", problem);
    }
    for (const use of uses.uses) {
      if (use.line < startLine || use.line > endLine || !KINDS.callees.has(use.kind)) continue;
      if (looked++ >= MAX_CALLEES) return { references: distinct(references), truncated: true };
      const resolved = await resolveUse(path, use, load);
      if (resolved === "none" || resolved === "outside") continue;
      const candidates = await known(use.meaning.to === "import" ? use.meaning.name : use.name);
      const target =
        resolved === "unknown"
          ? undefined
          : candidates.find((each) => each.path === resolved.path && each.startLine === resolved.line);
      if (!target && (resolved !== "unknown" || candidates.length === 0)) continue;
      references.push({
        ...(await lineOf(indexes, path, use)),
        relation: "callees",
        distance: 1,
        ...(target ? { certainty: "certain", target: targetOf(target) } : { certainty: "name" }),
      });
    }
  }
  return { references: distinct(references), truncated: false };
}
