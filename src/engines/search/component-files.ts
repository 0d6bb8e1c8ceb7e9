/**
 * Components of Vue, Svelte, Astro and Razor. Each file is one, and nothing in it says its name: it has that of the file, by which templates use it. What is
 * stored of a content does not depend on its path, so components are no stored symbols; they are added where definitions are looked up.
 */
import { COMPONENT, COMPONENT_LINE, NUXT_CONFIGS, pascalCase } from "../parsing/component-names.ts";
import { type FileFilter, filesNamed, namedFiles, type NamedFile, outlinesOf, symbolsOf } from "./definitions.ts";
import { foldCase } from "./names.ts";
import { kindNumber, type SymbolPlace } from "./record.ts";
import type { SearchIndex } from "./search-index.ts";

/** Ordinal of a component in the symbols of its file, for `Array.at`: it is the last one there. */
export const COMPONENT_ORDINAL = -1;

const COMPONENT_FILE = /\.(?:vue|svelte|astro|razor)$/;
/** A file's name; what Nuxt has between it and the extension is no part of the component's. */
const FILE = /(?:^|\/)([A-Za-z][\w-]*)(?:\.(?:client|server|global))?\.(?:vue|svelte|astro|razor)$/;
const MAX_PATH = 1_000;

/** Names of the component in a file: its own, and the one by which Nuxt knows it, which begins with the folders below `components`. */
interface ComponentNames {
  name: string;
  qualifiedName: string;
}

/** The component that a path is of; undefined for other files, and for those without a name that templates can use, as `+page.svelte`. */
function componentAt(path: string, isNuxt: boolean): ComponentNames | undefined {
  const [, stem] = path.length > MAX_PATH ? [] : (FILE.exec(path) ?? []);
  if (stem === undefined) return undefined;
  const name = pascalCase(stem);
  return { name, qualifiedName: isNuxt ? nuxtName(path, name) : name };
}

/** `components/base/form/FormInput.vue` is `BaseFormInput`: what the folders end with and the name begins with is written once. */
function nuxtName(path: string, name: string): string {
  const [, below] = /(?:^|\/)components\/(?:(.+)\/)?[^/]*$/.exec(path) ?? [];
  const folders = (below ?? "").split("/").flatMap((folder) => wordsOf(pascalCase(folder)));
  const own = wordsOf(name);
  let shared = Math.min(folders.length, own.length);
  while (shared > 0 && folders.slice(-shared).join(" ") !== own.slice(0, shared).join(" ")) shared--;
  return [...folders.slice(0, folders.length - shared), ...own].join("");
}

const wordsOf = (name: string): string[] => name.match(/[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|\d+/g) ?? [];

/** Component files of open indexes, by each of their names in lower case. */
const components = new WeakMap<SearchIndex, ReadonlyMap<string, readonly number[]>>();

function componentFiles(index: SearchIndex): ReadonlyMap<string, readonly number[]> {
  let files = components.get(index);
  if (!files) {
    const found = new Map<string, number[]>();
    for (let file = 0; file < index.fileCount; file++) {
      const names = componentOf(index, file);
      for (const name of names ? new Set([names.name, names.qualifiedName]) : []) {
        const key = foldCase(name);
        const same = found.get(key);
        if (same) same.push(file);
        else found.set(key, [file]);
      }
    }
    components.set(index, (files = found));
  }
  return files;
}

function componentOf(index: SearchIndex, file: number): ComponentNames | undefined {
  const path = index.path(file);
  return COMPONENT_FILE.test(path) ? componentAt(path, isNuxt(index)) : undefined;
}

const isNuxt = (index: SearchIndex): boolean => NUXT_CONFIGS.some((name) => index.filesByName.has(name));

const named = (name: string, file: number): NamedFile => ({
  file,
  entry: { name, content: 0, symbol: COMPONENT_ORDINAL, kind: kindNumber(COMPONENT), scope: 0 },
});

/** As `filesNamed`, with components. */
export async function definingFiles(index: SearchIndex, name: string, isWanted?: FileFilter): Promise<NamedFile[]> {
  const own = (componentFiles(index).get(name) ?? []).filter((file) => isWanted?.(file) !== false);
  return [...(await filesNamed(index, name, isWanted)), ...own.map((file) => named(name, file))];
}

/** As `namedFiles`, with components. */
export async function definitionsNamed(
  index: SearchIndex,
  prefix: string,
  passes: (name: string) => boolean,
): Promise<NamedFile[]> {
  const own = [...componentFiles(index)].filter(([name]) => name.startsWith(prefix) && passes(name));
  const files = own.flatMap(([name, all]) => all.map((file) => named(name, file)));
  return [...(await namedFiles(index, prefix, passes)), ...files];
}

/** As `symbolsOf`, with the component of each file that is one as the last of its symbols. */
export async function definitionsOf(
  index: SearchIndex,
  files: readonly { file: number }[],
): Promise<(readonly SymbolPlace[])[]> {
  const names = files.map(({ file }) => componentOf(index, file));
  const areComponents = files.filter((_, i) => names[i] !== undefined);
  const [symbols, outlines] = await Promise.all([symbolsOf(index, files), outlinesOf(index, areComponents)]);
  let next = 0;
  return symbols.map((own, i) => {
    const component = names[i];
    if (!component) return own;
    const endLine = outlines[next++]?.chunks.at(-1)?.endLine ?? COMPONENT_LINE;
    return own.concat({ kind: COMPONENT, ...component, parent: null, startLine: COMPONENT_LINE, endLine });
  });
}
