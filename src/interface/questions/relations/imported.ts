/** What an import leads to. */
import { isIndex, modulePaths, submodule } from "../../../engines/relations/modules.ts";
import type { Entry } from "../../../engines/relations/script-configs.ts";
import type { Import } from "../../../engines/relations/types.ts";
import type { QuestionFiles } from "../../../engines/relations/question-files.ts";

/** The files that an import leads to: the module, or the one of its modules whose name is taken. */
export async function importedFiles(from: string, { module, name }: Import, files: QuestionFiles): Promise<Entry[]> {
  const inner = name === "*" ? undefined : submodule(from, module, name);
  const modules = inner === undefined ? [module] : [module, inner];
  const found = await Promise.all(modules.map((each) => importedFile(from, each, files)));
  return found.filter((entry) => entry !== undefined);
}

/** The file that an import leads to; undefined if it is none of the index. */
export async function importedFile(from: string, module: string, files: QuestionFiles): Promise<Entry | undefined> {
  const near = modulePaths(from, module).find((candidate) => files.has(candidate));
  const [stated] = near === undefined || isIndex(near) ? await files.entries(from, module) : [];
  return stated ?? (near === undefined ? undefined : { path: near, isStated: true });
}

/** Whether an import is of a package, of a module in it, or of the one name of a package that is given. */
export function isOfPackage({ module, name: taken }: Import, name: string): boolean {
  if (module.startsWith(name)) return /^(?:$|[/.\\])/.test(module.slice(name.length));
  return name.startsWith(module) && /^[.\\]/.test(name.slice(module.length)) && name.slice(module.length + 1) === taken;
}
