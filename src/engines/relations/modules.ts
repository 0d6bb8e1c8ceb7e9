/** Which files of a repository an import may mean, likeliest first. */
import { detectLanguage } from "../parsing/detect.ts";
import { splitMark } from "./marked-paths.ts";
import type { Meaning } from "./types.ts";

const SCRIPT_ENDINGS = [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"];
const SOURCES_OF: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx", ".d.ts", ".js"],
  ".jsx": [".tsx", ".d.ts", ".jsx"],
  ".mjs": [".mts", ".d.mts", ".mjs"],
  ".cjs": [".cts", ".d.cts", ".cjs"],
};

/** Whether a file is written in TypeScript or JavaScript, or is a component with scripts. */
export const isScript = (path: string): boolean => /\.[cm]?[jt]sx?$|\.(?:vue|svelte|astro)$/.test(path);

/** Whether a file is written in Python: a module, its types, or a notebook. */
export const isPython = (path: string): boolean => /\.(?:pyi?|ipynb)$/.test(path);

/** Files of a label of Bazel: `//folder:file.bzl` from the top of the workspace, which may be a folder around the file, `:file.bzl` beside it. */
function labelPaths(path: string, label: string): string[] {
  const [, top, folder = "", name = ""] = /^(?:@?(\/\/)([^:]*))?:?(.*)$/.exec(label) ?? [];
  if (top === undefined) return label.startsWith(":") ? [inFolder(folderOf(path), name)] : [];
  return foldersAbove(path).map((each) => inFolder(each, inFolder(folder, name)));
}

/** Paths that an import in a file may mean; empty if it names a package that is not part of the file's folders. */
export function modulePaths(path: string, module: string): string[] {
  const { mark, own } = splitMark(path);
  return pathsIn(own, module).map((each) => mark + each);
}

function pathsIn(path: string, module: string): string[] {
  if (path.endsWith(".rs")) return rustPaths(path, module);
  if (isPython(path)) return pythonPaths(path, module);
  const isStarlark = !isScript(path) && detectLanguage(path) === "starlark";
  return isStarlark ? labelPaths(path, module) : scriptPaths(path, module);
}

function scriptPaths(path: string, module: string): string[] {
  if (!/^\.{1,2}(?:\/|$)/.test(module)) return [];
  const joined = joinPath(folderOf(path), module);
  return joined === undefined ? [] : scriptFiles(joined).toSorted(byTaking(path));
}

/** Orders files as a script takes them: what JavaScript imports is run, and declarations are not. */
export function byTaking(path: string): (a: string, b: string) => number {
  const isLast = (file: string): boolean => /\.[cm]?jsx?$/.test(path) && /\.d\.[cm]?ts$/.test(file);
  return (a, b) => Number(isLast(a)) - Number(isLast(b));
}

/** Whether an import of its folder leads to a file, unless a `package.json` there names another. */
export const isIndex = (path: string): boolean => /(?:^|\/)index\.(?:d\.)?[cm]?[jt]sx?$/.test(path);

/** Files that a script may mean by a path without regard to its ending, or by a folder. */
export function scriptFiles(joined: string): string[] {
  const [ending = ""] = /\.[cm]?jsx?$/.exec(joined) ?? [];
  const sources = SOURCES_OF[ending]?.map((other) => joined.slice(0, -ending.length) + other) ?? [];
  const exact = /\.(?:[cm]?tsx?|vue|svelte|astro)$/.test(joined) ? [joined] : [];
  const index = joined === "" ? "index" : `${joined}/index`;
  return [
    ...exact,
    ...sources,
    ...SCRIPT_ENDINGS.map((own) => joined + own),
    ...SCRIPT_ENDINGS.map((own) => index + own),
  ];
}

function pythonPaths(path: string, module: string): string[] {
  const [dots = ""] = /^\.*/.exec(module) ?? [];
  const rest = module.slice(dots.length).replaceAll(".", "/");
  const files = (folder: string) => pythonFiles(folder, rest);
  if (dots !== "") {
    let folder: string | undefined = folderOf(path);
    for (let up = 1; up < dots.length && folder !== undefined; up++)
      folder = folder === "" ? undefined : folderOf(folder);
    return folder === undefined ? [] : files(folder);
  }
  // An absolute import begins at the root of the sources, which is one of the folders above the file or `src` in the repository.
  const above: string[] = [];
  for (let folder = folderOf(path); above.length < 20; folder = folderOf(folder)) {
    above.unshift(folder);
    if (folder === "") break;
  }
  return [...new Set([...above, "src"])].flatMap(files);
}

/** Files of the Python module at a path below a folder; an empty path is the folder itself. */
export function pythonFiles(folder: string, path: string): string[] {
  const base = [folder, path].filter((part) => part !== "").join("/");
  const inside = base === "" ? "" : `${base}/`;
  return [...(path === "" ? [] : [`${base}.py`]), `${inside}__init__.py`, ...(path === "" ? [] : [`${base}.pyi`])];
}

/** The `__init__.py` of a Python module's folder, which makes it a package. */
export function packageAround(module: string): string {
  const folder = folderOf(module.endsWith("/__init__.py") ? folderOf(module) : module);
  return folder === "" ? "__init__.py" : `${folder}/__init__.py`;
}

/** The submodule of a module of Python or Rust; undefined for other languages. */
export function submodule(path: string, module: string, name: string): string | undefined {
  if (path.endsWith(".rs")) return `${module}::${name}`;
  if (!isPython(path)) return undefined;
  return module.endsWith(".") ? module + name : `${module}.${name}`;
}

/** The module of Python that `a.b` is where `import a.b` bound `a`, whose folder need not be a package; undefined for other meanings. */
export function moduleNamed(path: string, meaning: Meaning): string | undefined {
  const names: string[] = [];
  let of = meaning;
  for (; of.to === "member"; of = of.of) names.unshift(of.name);
  if (!isPython(path) || of.to !== "import" || of.name !== "*" || names.length === 0) return undefined;
  return [of.module, ...names].join(".");
}

/** Folders above a package of Rust in which other packages of its workspace are looked for. */
const MAX_ABOVE = 3;
const PACKAGE_FOLDERS = ["", "crates/"];

function rustPaths(path: string, module: string): string[] {
  const [first = "", ...rest] = module.split("::");
  const sources = sourcesOf(path);
  if (first === "crate") return rustFiles(sources, rest, sources);
  const own =
    /(?:^|\/)(?:mod|lib|main)\.rs$/.test(path) || path.slice(0, -3) === sources ? folderOf(path) : path.slice(0, -3);
  if (first === "self" && rest.length === 0) return [path];
  if (first === "self" || first === "super") {
    let folder: string | undefined = own;
    const up = [first, ...rest].findIndex((part) => part !== "super" && part !== "self");
    const names = up < 0 ? [] : [first, ...rest].slice(up);
    const supers = [first, ...rest].filter((part) => part === "super").length;
    for (let left = supers; left > 0 && folder !== undefined; left--)
      folder = folder === sources || folder === "" ? undefined : folderOf(folder);
    return folder === undefined ? [] : rustFiles(folder, names, sources);
  }
  // A module of the file, or another package of the workspace, whose folder usually has its name.
  const inside = rustFiles(own, [first, ...rest], sources);
  const folder = sources.endsWith("/src") ? folderOf(sources) : "";
  const above: string[] = [];
  for (let at = folder; above.length < MAX_ABOVE && at !== "";) above.push((at = folderOf(at)));
  const names = [...new Set([first, first.replaceAll("_", "-")])];
  const others = (sources === "src" ? [""] : above).flatMap((at) =>
    PACKAGE_FOLDERS.flatMap((group) => names.map((name) => `${at === "" ? "" : `${at}/`}${group}${name}/src`)),
  );
  return [...inside, ...others.flatMap((other) => rustFiles(other, rest, other))];
}

/** Files of the module `names` below the folder of a module; `sources` is the folder of the whole package. */
export function rustFiles(folder: string, names: readonly string[], sources: string): string[] {
  const base = [folder, ...names].filter((part) => part !== "").join("/");
  if (base === sources) return [`${base}/lib.rs`, `${base}/main.rs`, `${base}.rs`, `${base}/mod.rs`];
  return [`${base}.rs`, `${base}/mod.rs`];
}

/** The folder of a package's sources; a program of its own, such as a test, is one without a folder. */
function sourcesOf(path: string): string {
  const [found] = /^(?:.*\/)?src(?=\/)/.exec(path) ?? [];
  const isProgram = found !== undefined && /^\/bin\/[^/]+\.rs$/.test(path.slice(found.length));
  return found === undefined || isProgram ? path.slice(0, -3) : found;
}

/** The folder of a path; empty at the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** A path in a folder, which is `""` for the root. */
export const inFolder = (folder: string, path: string): string => (folder === "" ? path : `${folder}/${path}`);

/** Folders above a file that are looked into. */
const MAX_FOLDERS = 30;

/** The folder of a file and those above, the nearest first; the last one is `""` unless there are too many. */
export function foldersAbove(path: string): string[] {
  const folders = [folderOf(path)];
  for (let folder = folderOf(path); folder !== "" && folders.length < MAX_FOLDERS;)
    folders.push((folder = folderOf(folder)));
  return folders;
}

/** Whether files are in a folder or its subfolders. The folder may be written with `./` before it and a slash behind it. */
export function isWithin(folder: string): (path: string) => boolean {
  const prefix = `${folder.replace(/^\.\//, "").replace(/\/$/, "")}/`;
  return (path) => path.startsWith(prefix);
}

/** Whether a file is in a folder, and not in a subfolder. */
export const isDirectlyIn = (folder: string, path: string): boolean =>
  path.lastIndexOf("/") === (folder === "" ? -1 : folder.length) && path.startsWith(folder);

/** A path relative to a folder; undefined if it leaves the repository. */
export function joinPath(folder: string, relative: string): string | undefined {
  const parts = folder === "" ? [] : folder.split("/");
  for (const part of relative.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}
