/** What scripts and templates use without an import of their own. */
import { COMPONENT, COMPONENT_LINE, NUXT_CONFIGS } from "../parsing/component-names.ts";
import { foldersAbove, inFolder } from "./modules.ts";
import { partialKey } from "./packages.ts";
import type { RelatedFiles, Resolved } from "./resolved.ts";
import { macroKey } from "./rust-keys.ts";
import { CODE_BEHIND, COMPONENTS, MACROS } from "./types.ts";

/** Whether a module stands for what no file imports. */
export const isUnimported = (module: string): boolean =>
  module === COMPONENTS || module === CODE_BEHIND || module === MACROS;

/** What such a module has under a name. */
export function unimported(files: RelatedFiles, path: string, module: string, name: string): Promise<Resolved> {
  if (module === MACROS) return macroNamed(files, path, name);
  return module === COMPONENTS ? componentNamed(files, path, name) : codeBehind(files, path);
}

/** The only macro of a name in the crate of a file, or else in the repository: `#[macro_use]` and the order of modules decide which files see it. */
async function macroNamed(files: RelatedFiles, path: string, name: string): Promise<Resolved> {
  const named = (await files.definitions(name, path)).filter(
    (each) => each.kind === "macro" && each.path.endsWith(".rs"),
  );
  const near = named.filter((each) => crateOf(each.path) === crateOf(path));
  const [only, ...others] = new Set((near.length > 0 ? near : named).map((each) => each.path));
  const at =
    only === undefined || others.length > 0 ? undefined : (await files.uses(only))?.bindings.get(macroKey(name));
  return only !== undefined && at?.to === "local" ? { path: only, line: at.line } : "unknown";
}

/** The folder of the crate of a file, by custom. */
const crateOf = (path: string): string => path.replace(/(?:^|\/)(?:src|tests|benches|examples)\/.*/s, "");

/** The only component of a name: any of the repository may be registered for all templates. */
async function componentNamed(files: RelatedFiles, path: string, name: string): Promise<Resolved> {
  const named = (await files.definitions(name, path)).filter(({ kind }) => kind === COMPONENT);
  const [only, ...others] = named;
  return only && others.length === 0 ? { path: only.path, line: COMPONENT_LINE } : "unknown";
}

/** The part of a Razor component's class that stands in a file of its own. */
async function codeBehind(files: RelatedFiles, path: string): Promise<Resolved> {
  const own = `${path}.cs`;
  for (const [name, of] of (await files.uses(own))?.bindings ?? [])
    if (name.startsWith(partialKey("")) && of.to === "local") return { path: own, line: of.line };
  return "outside";
}

const SCRIPT = /\.(?:vue|[cm]?[jt]sx?)$/;
/** Folders of a project of Nuxt whose exports are imported where they are used. */
const FOLDERS = /(?:^|\/)(?:composables|utils|stores?)\//;

/** The only file that may export a name that a script of Nuxt does not bind. */
export async function autoImportedFrom(files: RelatedFiles, path: string, name: string): Promise<string | undefined> {
  const root = SCRIPT.test(path) ? await nuxtRoot(files, path) : undefined;
  if (root === undefined) return undefined;
  const named = (await files.definitions(name, path)).filter(
    (each) =>
      each.qualifiedName === name && each.path.startsWith(root) && FOLDERS.test(each.path) && SCRIPT.test(each.path),
  );
  const paths = new Set(named.map((each) => each.path));
  const [only] = paths;
  return paths.size === 1 ? only : undefined;
}

/** The folder of the nearest configuration of Nuxt, with a slash behind it; empty for the root of the repository. */
async function nuxtRoot(files: RelatedFiles, path: string): Promise<string | undefined> {
  for (const folder of foldersAbove(path))
    for (const config of NUXT_CONFIGS) if (await files.uses(inFolder(folder, config))) return inFolder(folder, "");
  return undefined;
}
