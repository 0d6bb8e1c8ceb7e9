/** The errors of names and paths that no index has, with those that may have been meant. */
import { nameParts } from "../../engines/search/names.ts";
import { treePath } from "./answer.ts";
import { NotFoundError, nothingIndexed, type OpenIndexes, type QuestionError, type TooLarge } from "./code-index.ts";
import { parsePosition } from "./relations/position.ts";

const NEAR_NAMES = 5;
/** Similar names that are looked at for distinct ones. */
const NEAR_SYMBOLS = 50;
const NAMED_FILES = 3;

/**
 * The error of a name without a definition, which a field gave; of a scope without an index, that nothing is indexed. Of a place, `path:line`,
 * it has the names of the definitions there.
 */
export async function unknownName(
  indexes: OpenIndexes,
  name: string,
  field: Exclude<NotFoundError["field"], "path"> = "name",
): Promise<QuestionError> {
  if (indexes.indexes.length === 0) return nothingIndexed();
  const there = await definedAt(indexes, name);
  if (there.length > 0) return new NotFoundError(field, name, there, { isPlace: true });
  const { symbols: similar } = await indexes.symbols({ name, match: "fuzzy", limit: NEAR_SYMBOLS });
  const near = similar.length > 0 ? similar : await scopeOf(indexes, name);
  return new NotFoundError(field, name, nearNames(near), { tooLarge: await tooLargeIn(indexes) });
}

/** The definition of the scope that a qualified name names: its outline shows what it has instead. */
async function scopeOf(indexes: OpenIndexes, name: string): Promise<readonly { qualifiedName: string }[]> {
  const scope = nameParts(name).slice(0, -1).join(".");
  return scope === "" ? [] : (await indexes.symbols({ name: scope, match: "exact", limit: 1 })).symbols;
}

/** Names of the definitions around the line that `path:line` names, the innermost first, or of those nearest to it; none for anything else. */
export async function definedAt(indexes: OpenIndexes, place: string): Promise<string[]> {
  const position = parsePosition(place);
  if (!position) return [];
  const { line } = position;
  const path = treePath(position.path, indexes.root);
  const distance = (symbol: { startLine: number; endLine: number }) =>
    Math.max(symbol.startLine - line, line - symbol.endLine, 0);
  const symbols = (await indexes.outline(path))?.symbols ?? [];
  const sorted = symbols.toSorted((a, b) => distance(a) - distance(b) || b.startLine - a.startLine);
  const around = sorted.filter((symbol) => distance(symbol) === 0);
  return nearNames(around.length > 0 ? around : sorted);
}

/** Files of a scope that are too large to be indexed; undefined if there are none, or that takes long to tell. */
export async function tooLargeIn(indexes: OpenIndexes): Promise<TooLarge | undefined> {
  const paths = (await indexes.tooLarge?.()) ?? [];
  return paths.length === 0 ? undefined : { files: paths.length, paths: paths.slice(0, NAMED_FILES) };
}

/** Distinct names of the first similar symbols. */
export function nearNames(similar: readonly { qualifiedName: string }[]): string[] {
  return [...new Set(similar.map(({ qualifiedName }) => qualifiedName))].slice(0, NEAR_NAMES);
}

/** As `unknownName`, for a path. */
export async function unknownPath(indexes: OpenIndexes, path: string): Promise<QuestionError> {
  if (indexes.indexes.length === 0) return nothingIndexed();
  return new NotFoundError("path", path, await indexes.nearPaths(path));
}
