/** Which files of a repository an import may mean, likeliest first. */

const SCRIPT_ENDINGS = [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"];
const SOURCES_OF: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx", ".js"],
  ".jsx": [".tsx", ".jsx"],
  ".mjs": [".mts", ".mjs"],
  ".cjs": [".cts", ".cjs"],
};

/** Paths that an import in a file may mean; empty if it names a package that is not part of the file's folders. */
export function modulePaths(path: string, module: string): string[] {
  return /\.pyi?$/.test(path) ? pythonPaths(path, module) : scriptPaths(path, module);
}

function scriptPaths(path: string, module: string): string[] {
  if (!/^\.{1,2}(?:\/|$)/.test(module)) return [];
  const joined = join(folderOf(path), module);
  if (joined === undefined) return [];
  const [ending = ""] = /\.[cm]?jsx?$/.exec(joined) ?? [];
  const sources = SOURCES_OF[ending]?.map((other) => joined.slice(0, -ending.length) + other) ?? [];
  const exact = /\.[cm]?tsx?$/.test(joined) ? [joined] : [];
  const index = joined === "" ? "index" : `${joined}/index`;
  return [
    ...exact,
    ...sources,
    ...SCRIPT_ENDINGS.flatMap((own) => [joined + own]),
    ...SCRIPT_ENDINGS.map((own) => index + own),
  ];
}

function pythonPaths(path: string, module: string): string[] {
  const [dots = ""] = /^\.*/.exec(module) ?? [];
  const rest = module.slice(dots.length).replaceAll(".", "/");
  const files = (folder: string) => {
    const base = [folder, rest].filter((part) => part !== "").join("/");
    const inside = base === "" ? "" : `${base}/`;
    return [...(rest === "" ? [] : [`${base}.py`]), `${inside}__init__.py`, ...(rest === "" ? [] : [`${base}.pyi`])];
  };
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

/** The submodule of a Python module; undefined for other languages. */
export function submodule(path: string, module: string, name: string): string | undefined {
  if (!/\.pyi?$/.test(path)) return undefined;
  return module.endsWith(".") ? module + name : `${module}.${name}`;
}

/** The folder of a path; empty at the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Undefined if the path leaves the repository. */
function join(folder: string, relative: string): string | undefined {
  const parts = folder === "" ? [] : folder.split("/");
  for (const part of relative.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}
