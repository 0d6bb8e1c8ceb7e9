/** The errors of names and paths that no index has, with those that may have been meant. */
import { NotFoundError, nothingIndexed, type OpenIndexes, type QuestionError, type TooLarge } from "./code-index.ts";

const NEAR_NAMES = 5;
/** Similar names that are looked at for distinct ones. */
const NEAR_SYMBOLS = 50;
const NAMED_FILES = 3;

/** The error of a name without a definition; of a scope without an index, that nothing is indexed. */
export async function unknownName(indexes: OpenIndexes, name: string): Promise<QuestionError> {
  if (indexes.indexes.length === 0) return nothingIndexed();
  const { symbols: similar } = await indexes.symbols({ name, match: "fuzzy", limit: NEAR_SYMBOLS });
  return new NotFoundError("name", name, nearNames(similar), await tooLargeIn(indexes));
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
