/** What manifests of packages say: `package.json`, `pyproject.toml`, `Cargo.toml`, `pom.xml` and `go.mod`. */
import { folderOf, joinPath } from "./modules.ts";
import { type ScriptPackage, scriptPackage } from "./script-configs.ts";

/** A package, by the name that others import or depend on it by. */
export type Manifest = { folder: string; name: string } & (
  | ({ kind: "script" } & ScriptPackage)
  | { kind: "python" }
  | { kind: "rust"; sources: string }
  | { kind: "go" }
  | { kind: "maven"; dependencies: ReadonlySet<string> }
);
export type ManifestKind = Manifest["kind"];

/** Characters of a manifest that are read. */
const MAX_TEXT = 100_000;
/** Dependencies of a manifest that are known. */
const MAX_DEPENDENCIES = 2_000;

const READERS: Readonly<Record<string, (path: string, text: string) => Manifest | undefined>> = {
  "package.json": scriptManifest,
  "pyproject.toml": pythonProject,
  "cargo.toml": rustPackage,
  "pom.xml": mavenProject,
  "go.mod": goModule,
};

/** Names of manifests, in lower case. */
export const MANIFESTS: readonly string[] = Object.keys(READERS);

/** Reads a manifest; undefined if it names no package, is too long or cannot be read. */
export function readManifest(path: string, text: string): Manifest | undefined {
  const read = READERS[path.slice(path.lastIndexOf("/") + 1).toLowerCase()];
  return text.length > MAX_TEXT ? undefined : read?.(path, text);
}

function scriptManifest(path: string, text: string): Manifest | undefined {
  const own = scriptPackage(path, text);
  return own && { kind: "script", ...own };
}

function pythonProject(path: string, text: string): Manifest | undefined {
  const values = tomlTexts(text);
  const name = values.get("project.name") ?? values.get("tool.poetry.name");
  return name === undefined ? undefined : { kind: "python", name: pythonName(name), folder: folderOf(path) };
}

/** The name of a project of Python as its package usually has it. */
export const pythonName = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, "_");

function rustPackage(path: string, text: string): Manifest | undefined {
  const values = tomlTexts(text);
  const name = values.get("lib.name") ?? values.get("package.name");
  const folder = folderOf(path);
  const sources = joinPath(folder, folderOf(values.get("lib.path") ?? "src/lib.rs"));
  if (name === undefined || sources === undefined) return undefined;
  return { kind: "rust", name: name.replaceAll("-", "_"), folder, sources };
}

/** The texts of a TOML file that stand on one line, by their table and key. */
function tomlTexts(text: string): Map<string, string> {
  const values = new Map<string, string>();
  let table = "";
  for (const line of text.split("\n")) {
    const [, header] = /^\s*\[\[?([\w.-]{1,200})\]/.exec(line) ?? [];
    if (header !== undefined) table = header;
    const [, key, quoted, literal] = /^\s*([\w.-]{1,200})\s*=\s*(?:"([^"\\]{1,500})"|'([^']{1,500})')/.exec(line) ?? [];
    const value = quoted ?? literal;
    if (key !== undefined && value !== undefined) values.set(table === "" ? key : `${table}.${key}`, value);
  }
  return values;
}

function mavenProject(path: string, text: string): Manifest | undefined {
  const parent = inner(text, "parent") ?? "";
  const end = text.search(/<(?:dependencies|dependencyManagement|build|profiles|reporting)>/);
  const own = (end < 0 ? text : text.slice(0, end)).replace(`<parent>${parent}</parent>`, "");
  const group = inner(own, "groupId") ?? inner(parent, "groupId");
  const artifact = inner(own, "artifactId");
  if (group === undefined || artifact === undefined) return undefined;
  const dependencies = new Set<string>();
  for (const each of text.split("<dependency>").slice(1, MAX_DEPENDENCIES)) {
    const of = inner(each, "groupId");
    dependencies.add(`${of === "${project.groupId}" ? group : of}:${inner(each, "artifactId")}`);
  }
  return { kind: "maven", name: `${group}:${artifact}`, folder: folderOf(path), dependencies };
}

/** The text of the first element of a name. */
function inner(text: string, element: string): string | undefined {
  const start = text.indexOf(`<${element}>`);
  const end = start < 0 ? -1 : text.indexOf(`</${element}>`, start);
  return end < 0 ? undefined : text.slice(start + element.length + 2, end).trim();
}

function goModule(path: string, text: string): Manifest | undefined {
  for (const line of text.split("\n")) {
    const [, name] = /^module\s+"?([^\s"]{1,500})/.exec(line) ?? [];
    if (name !== undefined) return { kind: "go", name, folder: folderOf(path) };
  }
  return undefined;
}
