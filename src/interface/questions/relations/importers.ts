/** Importers: the files that import a file or a package. */
import { FileImports } from "../../../engines/relations/file-imports.ts";
import type { Import } from "../../../engines/relations/types.ts";
import type { QuestionFiles } from "../../../engines/relations/question-files.ts";
import { FolderImports } from "./folder-imports.ts";
import type { Certainty, FoundUse } from "./found.ts";
import { importedFiles, isOfPackage } from "./imported.ts";
import { namingLines } from "./named-files.ts";

/** Files whose imports are read together. */
const BATCH = 200;

/**
 * The imports of a file of the index or of what is in a folder, by its path, or of a package, by its name. An import of a file mentions its
 * name, so that only files that do are read; one of a folder's own file need not, and names with other signs are not looked up as a whole. There
 * is a limit to how many can be read, so that files that mention the name come first. Of a template, script or file of data, and of a folder
 * that no import leads into, the lines that name it by its path count as well.
 */
export async function importersOf(files: QuestionFiles, path: string): Promise<FoundUse[]> {
  const isFile = files.has(path);
  const stem = isFile ? stemOf(path) : packageWord(path);
  const mentioning = (await files.mentioning(stem)).map((each) => each.path);
  const importing = isFile ? await files.importing(path) : [];
  // An import of a package mentions each word of its name; one of the file that a manifest states may name the folder alone.
  const isStated = isFile && (await files.packagesLedBy(path)).length > 0;
  const isMentioned = isFile
    ? !isStated && /^\w+$/.test(stem) && path.slice(path.lastIndexOf("/") + 1).startsWith(stem)
    : stem !== "";
  const own = isFile ? await FileImports.of(files, path) : undefined;
  const folder = isFile ? undefined : await FolderImports.of(files, path);
  const possible = own?.mentioning ?? (isMentioned && !folder ? [] : files.paths);
  const order = [...new Set([...mentioning, ...possible, ...importing])];
  const leadsTo = async (from: string, each: Import): Promise<Certainty | undefined> => {
    const target = (await importedFiles(from, each, files)).find((entry) => entry.path === path);
    return target ? (target.isStated ? "certain" : "likely") : own?.certaintyOf(from, each);
  };
  const certaintyOf = async (from: string, each: Import): Promise<Certainty | undefined> => {
    if (isFile) return leadsTo(from, each);
    return isOfPackage(each, path) ? "certain" : folder?.certaintyOf(from, each);
  };
  const found = new Map<string, FoundUse[]>();
  for (let from = 0; from < order.length && !files.exhausted; from += BATCH)
    await Promise.all(
      order.slice(from, from + BATCH).map(async (importer) => {
        const imports = (await files.uses(importer))?.imports ?? [];
        const uses = new Map<number, FoundUse>();
        for (const each of imports) {
          const certainty = await certaintyOf(importer, each);
          if (certainty) uses.set(each.line, { path: importer, line: each.line, certainty, distance: 1 });
        }
        if (uses.size > 0) found.set(importer, [...uses.values()]);
      }),
    );
  for (const use of isFile || (folder && found.size === 0) ? await namingLines(files, path) : []) {
    const known = found.get(use.path) ?? [];
    if (known.every(({ line }) => line !== use.line)) found.set(use.path, [...known, use]);
  }
  // In the order of the paths, whatever was read first.
  return [...files.paths, ...importing].flatMap((importer) => found.get(importer) ?? []);
}

/** The longest word of a package's name, which all of its imports hold. */
export const packageWord = (name: string): string =>
  (name.match(/[\p{L}\p{N}_]+/gu) ?? []).reduce((longest, each) => (each.length > longest.length ? each : longest), "");

/** The word that most imports of a file hold: its name without ending, of an index the folder's. */
export function stemOf(path: string): string {
  const parts = path.split("/");
  const last = (parts.at(-1) ?? "").replace(/\.[^.]*$/, "");
  return /^(?:index|__init__|mod|init)$/.test(last) && parts.length > 1 ? (parts.at(-2) ?? last) : last;
}
