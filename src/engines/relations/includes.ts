/** Which files of a program see each other: what a file names is declared in it or in a header that it includes. */
import { folderOf, joinPath } from "./modules.ts";
import type { RelatedFiles } from "./resolved.ts";

/** Headers that are followed from a file, and files that are compared. */
const MAX_INCLUDED = 200;
const MAX_COMPARED = 8;
/** Folders above a file in which a header is looked for, each with those that usually hold a library's headers. */
const MAX_ABOVE = 6;
const HEADER_FOLDERS = ["", "include/", "src/"];

/** What files include, by the revision that they are of: a question asks for the same ones again and again. */
const knownIn = new WeakMap<RelatedFiles, Map<string, Promise<ReadonlySet<string>>>>();

/** Those of some places that a file can see, since it includes them, they include it, or both include one header; all if they are too many. */
export async function amongIncluded<T extends { path: string }>(
  files: RelatedFiles,
  path: string,
  places: readonly T[],
): Promise<readonly T[]> {
  if (places.length > MAX_COMPARED) return places;
  const own = await includedBy(files, path);
  const seen: T[] = [];
  for (const place of places)
    if ([...(await includedBy(files, place.path))].some((header) => own.has(header))) seen.push(place);
  return seen;
}

/** A file with the headers of the repository that it includes, those of headers too. */
function includedBy(files: RelatedFiles, path: string): Promise<ReadonlySet<string>> {
  let known = knownIn.get(files);
  if (!known) knownIn.set(files, (known = new Map()));
  let included = known.get(path);
  if (!included) known.set(path, (included = followed(files, path)));
  return included;
}

async function followed(files: RelatedFiles, path: string): Promise<ReadonlySet<string>> {
  const included = new Set([path]);
  for (const file of included) {
    for (const { module } of (await files.uses(file))?.imports ?? []) {
      if (included.size >= MAX_INCLUDED) return included;
      const header = await headerOf(files, file, module);
      if (header !== undefined) included.add(header);
    }
  }
  return included;
}

async function headerOf(files: RelatedFiles, path: string, module: string): Promise<string | undefined> {
  let folder = folderOf(path);
  for (let above = 0; above < MAX_ABOVE; above++) {
    for (const inner of HEADER_FOLDERS) {
      const header = joinPath(folder, inner + module);
      if (header !== undefined && (await files.uses(header))) return header;
    }
    if (folder === "") return undefined;
    folder = folderOf(folder);
  }
  return undefined;
}
