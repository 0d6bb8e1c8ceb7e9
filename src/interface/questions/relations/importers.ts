/** Importers: the files that import a file or a package. */
import { modulePaths, submodule } from "../../../engines/relations/modules.ts";
import type { Import } from "../../../engines/relations/types.ts";
import type { UsesIndex } from "../../../engines/relations/uses-index.ts";
import type { FoundUse } from "./found.ts";

/** Files whose imports are read together. */
const BATCH = 200;

/**
 * The imports of a file of the index, by its path, or of a package, by its name. An import of a file mentions its name, so that only files
 * that do are read; one of a folder's own file need not, and names with other signs are not looked up as a whole. There is a limit to how
 * many can be read, so that files that mention the name come first.
 */
export async function importersOf(files: UsesIndex, path: string): Promise<FoundUse[]> {
  const isFile = files.has(path);
  const stem = stemOf(path);
  const mentioning = (await files.mentioning(stem)).map((each) => each.path);
  const isMentioned = isFile && /^\w+$/.test(stem) && path.slice(path.lastIndexOf("/") + 1).startsWith(stem);
  const order = isMentioned ? mentioning : [...new Set([...mentioning, ...files.paths])];
  const found = new Map<string, FoundUse[]>();
  for (let from = 0; from < order.length && !files.exhausted; from += BATCH)
    await Promise.all(
      order.slice(from, from + BATCH).map(async (own) => {
        const imports = (await files.uses(own))?.imports ?? [];
        const means = (each: Import) => (isFile ? leadsTo(own, each, path, files) : isOfPackage(each, path));
        const lines = new Set(imports.filter(means).map(({ line }) => line));
        if (lines.size === 0) return;
        const uses = [...lines].map((line): FoundUse => ({ path: own, line, certainty: "certain", distance: 1 }));
        found.set(own, uses);
      }),
    );
  // In the order of the paths, whatever was read first.
  return files.paths.flatMap((own) => found.get(own) ?? []);
}

/** Whether an import of a file is the import of another. */
export function leadsTo(from: string, { module, name }: Import, path: string, files: UsesIndex): boolean {
  const first = (name: string) => modulePaths(from, name).find((candidate) => files.has(candidate));
  if (first(module) === path) return true;
  const inner = name === "*" ? undefined : submodule(from, module, name);
  return inner !== undefined && first(inner) === path;
}

/** Whether an import is of a package, of a module in it, or of the one name of a package that is given. */
function isOfPackage({ module, name: taken }: Import, name: string): boolean {
  if (module.startsWith(name)) return /^(?:$|[/.\\])/.test(module.slice(name.length));
  return name.startsWith(module) && /^[.\\]/.test(name.slice(module.length)) && name.slice(module.length + 1) === taken;
}

/** The word that most imports of a file hold: its name without ending, of an index the folder's. */
function stemOf(path: string): string {
  const parts = path.split("/");
  const last = (parts.at(-1) ?? "").replace(/\.[^.]*$/, "");
  return /^(?:index|__init__|mod)$/.test(last) && parts.length > 1 ? (parts.at(-2) ?? last) : last;
}
