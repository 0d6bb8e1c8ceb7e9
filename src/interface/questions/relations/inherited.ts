/** Members that are asked for by a type that inherits them: `Settings.getbool`, which its base `BaseSettings` defines. */
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { lastPart, nameParts } from "../../../engines/search/names.ts";
import type { FoundSymbol } from "../../../engines/search/types.ts";
import type { OpenIndexes } from "../code-index.ts";
import { innermostOf, TYPES } from "./found.ts";

/** Types of the name that are looked at, and definitions that may be the member. */
const MAX_TYPES = 10;
const MAX_MEMBERS = 300;

/** The definitions of `Type.member` where `Type` inherits the member and no index has that name. */
export async function inheritedMembers(indexes: OpenIndexes, name: string, path?: string): Promise<FoundSymbol[]> {
  const owner = nameParts(name).slice(0, -1).join(".");
  if (owner === "") return [];
  const { symbols } = await indexes.symbols({ name: owner, match: "exact", limit: MAX_TYPES, path });
  const found: FoundSymbol[] = [];
  const types = symbols.filter(({ kind }) => TYPES.has(kind));
  for (const [revision, own] of Map.groupBy(types, (each) => each.revision)) {
    const members = await indexes.withUses(revision, async (_, files) =>
      files.described(await inheritedBy(files, own, lastPart(name))),
    );
    found.push(...members);
  }
  return found;
}

/** The members of a name that types inherit; of those that override one another the nearest. */
async function inheritedBy(
  files: QuestionFiles,
  types: readonly DefinedSymbol[],
  name: string,
): Promise<DefinedSymbol[]> {
  const members: { member: DefinedSymbol; of: DefinedSymbol }[] = [];
  for (const member of (await files.definitions(name)).slice(0, MAX_MEMBERS)) {
    const of = await typeAround(files, member);
    if (of && (await someInherits(files, types, of))) members.push({ member, of });
  }
  const nearest: DefinedSymbol[] = [];
  for (const { member, of } of members) {
    const others = members.map((each) => each.of).filter((each) => each !== of);
    if (!(await someInherits(files, others, of))) nearest.push(member);
  }
  return nearest;
}

async function someInherits(
  files: QuestionFiles,
  types: readonly DefinedSymbol[],
  { path, startLine: line }: DefinedSymbol,
): Promise<boolean> {
  for (const each of types)
    if (await files.inherits({ path: each.path, line: each.startLine }, { path, line })) return true;
  return false;
}

/** The type that a definition is a member of: the one around it, or the one that its qualified name says, as in Go and C++. */
async function typeAround(files: QuestionFiles, member: DefinedSymbol): Promise<DefinedSymbol | undefined> {
  const { path, qualifiedName, startLine } = member;
  const owner = nameParts(qualifiedName).at(-2);
  if (owner === undefined) return undefined;
  const around = innermostOf(await files.definitionsIn(path), startLine, TYPES);
  if (around && lastPart(around.name) === owner) return around;
  const named = (await files.definitions(owner, path)).filter(({ kind }) => TYPES.has(kind));
  return named.find((each) => each.path === path) ?? (named.length === 1 ? named[0] : undefined);
}
