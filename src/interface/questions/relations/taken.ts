/** The modules that names are imported from. */
import { PACKAGE } from "../../../engines/relations/packages.ts";
import { certainly, type FileUses, type Meaning, WHOLE_MODULE } from "../../../engines/relations/types.ts";

/** A name that is imported, or a member of what is. */
interface ImportedName {
  module: string;
  /** The name itself. */
  name: string;
  /** Parts of the module's name. */
  path: readonly string[];
  /** What the module gives of which the name is a member: `path` for `os.path.join`. */
  parents: readonly string[];
  /** What the file imports of the module; `*` is all of it. */
  imported: string;
  /** Whether the name is one that the module itself gives: it is imported, or a member of the module as a whole. */
  isOfModule: boolean;
}

/** Whether what is imported is a module as a whole. */
export const isAll = (imported: string): boolean => imported === "*" || imported === WHOLE_MODULE;

/** Members of members that are looked at. */
const MAX_MEMBERS = 8;

/** What a meaning takes of a module by its name; undefined for anything else. */
export function importOf(meaning: Meaning): ImportedName | undefined {
  const members: string[] = [];
  let of = certainly(meaning);
  while (of.to === "member" && members.length < MAX_MEMBERS) {
    members.unshift(of.name);
    of = certainly(of.of);
  }
  if (of.to !== "import") return undefined;
  const { module, name: imported } = of;
  const isWhole = isAll(imported);
  const names = isWhole || (imported === "default" && members.length > 0) ? members : [imported, ...members];
  const [name = imported, parents] = [names.at(-1), names.slice(0, -1)];
  const path = module.split(/[^\p{L}\p{N}_]+/u).filter((part) => part !== "");
  return { module, name, path, parents, imported, isOfModule: members.length === (isWhole ? 1 : 0) };
}

/** What a file imports by name, or as a whole module: not what it may take of its own package, or of one that gives it all names. */
export class Taken {
  readonly #names = new Set<string>();

  constructor({ bindings, imports }: Pick<FileUses, "bindings" | "imports">) {
    for (const [name, of] of bindings) {
      const own = name === PACKAGE ? undefined : importOf(of);
      if (own) this.#names.add(keyOf(own.module, own.imported));
    }
    for (const { module, name } of imports) if (name !== "*") this.#names.add(keyOf(module, name));
  }

  has({ module, imported }: Pick<ImportedName, "module" | "imported">): boolean {
    return [imported, "*", "default", WHOLE_MODULE].some((name) => this.#names.has(keyOf(module, name)));
  }
}

const keyOf = (module: string, name: string): string => `${module}\n${name}`;

/** Names of modules that say nothing to who asks: those of the file's folder, of none, and of the language. */
const IS_NO_NAME = /^(?:\.*$|<|\*$|::|ruby:|node:globals$|(?:crate|self|super)(?:::|$))/;

/** Whether a module has a name that says where it is: a package, or another file. */
export const isPackage = (module: string): boolean => !IS_NO_NAME.test(module);
