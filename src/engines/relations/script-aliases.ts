/** Aliases of scripts that no configuration in the repository states: frameworks generate it, or a bundler's has them in code. */
import { foldersAbove, inFolder, joinPath, scriptFiles } from "./modules.ts";

/** An existing file, and whether a rule names it: others are where what is named so usually is. */
interface Found {
  path: string;
  isStated: boolean;
}

type Has = (path: string) => boolean;

/** SvelteKit's name for the folder `src/lib`. */
const SVELTE_LIBRARY = "$lib/";
/** `@/`, `~/` and `#/` of Vue, Nuxt and others; doubled in Nuxt. */
const OF_FOLDER = /^(?:@{1,2}|~{1,2}|#)\//;
/** Names of folders with a sign before them: `$components/card`, `#utils/dates`. */
const OF_NAME = /^[$#](?=[\w-]+\/)/;
/** Where such names begin, in the folder of the application. */
const ROOTS = ["src", "app", ""];
const NAME_ROOTS = ["src", "app", "", "src/lib"];

/** Existing files that an import in a file usually means; none for the name of a package. */
export function usualEntries(has: Has, path: string, module: string): Found[] {
  const isOfFolder = OF_FOLDER.test(module);
  if (!isOfFolder && !OF_NAME.test(module)) return [];
  // An application has its manifest beside its configuration.
  const folders = foldersAbove(path).filter((own) => own === "" || has(inFolder(own, "package.json")));
  if (module.startsWith(SVELTE_LIBRARY)) {
    const names = ["js", "ts", "mjs", "cjs", "mts"].map((ending) => `svelte.config.${ending}`);
    const folder = folders.find((own) => names.some((name) => has(inFolder(own, name))));
    if (folder !== undefined)
      return existing(has, inFolder(folder, `src/lib/${module.slice(SVELTE_LIBRARY.length)}`), true);
  }
  const rest = module.replace(isOfFolder ? OF_FOLDER : OF_NAME, "");
  for (const folder of folders) {
    for (const root of isOfFolder ? ROOTS : NAME_ROOTS) {
      const found = existing(has, joinPath(folder, inFolder(root, rest)), false);
      if (found.length > 0) return found;
    }
  }
  return [];
}

function existing(has: Has, path: string | undefined, isStated: boolean): Found[] {
  if (path === undefined) return [];
  return scriptFiles(path)
    .filter((own) => has(own))
    .map((own) => ({ path: own, isStated }));
}
