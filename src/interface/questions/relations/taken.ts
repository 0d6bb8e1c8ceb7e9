/** The modules that names are imported from. */
import { certainly, type Meaning } from "../../../engines/relations/types.ts";

/** Files, what has no module, and globals of scripts. */
const IS_NO_PACKAGE = /^(?:\.|<|\*$|node:globals$)/;

/** Whether a module is a package or a part of one, and no file beside the one that imports it. */
export const isPackage = (module: string): boolean => !IS_NO_PACKAGE.test(module);

/** What a name or receiver is imported as; `path` of `os` for `os.path`. */
export function importOf(meaning: Meaning): { module: string; name: string } | undefined {
  const of = certainly(meaning);
  if (of.to === "import") return of;
  const around = of.to === "member" ? certainly(of.of) : undefined;
  return of.to === "member" && around?.to === "import" ? { module: around.module, name: of.name } : undefined;
}
