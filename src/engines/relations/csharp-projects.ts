/** Namespaces that all files of a C# project use without naming them: `global using` in one of its files, `Using` in those of MSBuild. */
import { foldersAbove, folderOf, inFolder } from "./modules.ts";
import type { ConfiguredFiles } from "./script-configs.ts";
import type { FileUses } from "./types.ts";

/** Before a namespace in the star imports of a file that uses it for its whole project. No identifier has a space. */
export const GLOBAL_USING = "global ";

/** By custom, files with such names hold the directives: `GlobalUsings.cs`, `Usings.cs`. */
const USING_FILE = /usings?\.cs$/i;
const MAX_USING_FILES = 10;
const PROJECT = /\.csproj$/;
/** MSBuild takes these from the folders above a project, most of which hand on to the next. */
const SHARED = ["Directory.Build.props", "Directory.Build.targets"];
const MAX_USINGS = 300;
const MAX_TEXT = 200_000;
const USING = /<Using\s[^<>]*>/g;
const NAMESPACES = /\sInclude\s*=\s*"([\w.;\s]*)"/;
/** With these, an item names a type, or gives a namespace another name. */
const NO_NAMESPACE = /\s(?:Static|Alias)\s*=/;

/** The files of a revision with their uses. */
type Files = ConfiguredFiles & { uses(path: string): Promise<Pick<FileUses, "stars"> | undefined> };

/** What was read of a revision's projects. Later questions find it here. */
export class KnownProjects {
  /** Project files by folder, and the sources that may have the directives. */
  files: { folders: ReadonlyMap<string, readonly string[]>; sources: readonly string[] } | undefined;
  readonly usings = new Map<string, readonly string[]>();
}

/** The namespaces that the project of a file uses in all files, in order. The nearest folder above with a `.csproj` is the project's. */
export async function globalUsings(files: Files, known: KnownProjects, path: string): Promise<readonly string[]> {
  known.files ??= {
    folders: Map.groupBy(
      files.paths.filter((own) => PROJECT.test(own)),
      folderOf,
    ),
    sources: files.paths.filter((own) => USING_FILE.test(own)),
  };
  const { folders, sources } = known.files;
  const folderOfProject = (own: string) => foldersAbove(own).find((each) => folders.has(each));
  const folder = folderOfProject(path);
  if (folder === undefined) return [];
  let usings = known.usings.get(folder);
  if (!usings) {
    const own = sources.filter((each) => folderOfProject(each) === folder).slice(0, MAX_USING_FILES);
    usings = await readUsings(files, folder, { projects: folders.get(folder) ?? [], sources: own });
    known.usings.set(folder, usings);
  }
  return usings;
}

/** Files of Razor that name namespaces for those in their folder and below. */
const IMPORTS = ["_Imports.razor", "_ViewImports.cshtml"];

/** As `globalUsings`, for a file of Razor: with what the imports above it name, and the namespaces of its folder and those around, which begin with the project's name. */
export async function razorUsings(files: Files, known: KnownProjects, path: string): Promise<readonly string[]> {
  const usings = new Set(await globalUsings(files, known, path));
  const folders = foldersAbove(path);
  for (const folder of folders)
    for (const name of IMPORTS)
      for (const star of (await files.uses(inFolder(folder, name)))?.stars ?? []) usings.add(star);
  const project = folders.find((folder) => known.files?.folders.has(folder));
  const [file] = (project !== undefined && known.files?.folders.get(project)) || [];
  if (project === undefined || file === undefined) return [...usings];
  const root = file.slice(inFolder(project, "").length).replace(PROJECT, "");
  for (const folder of folders.slice(0, folders.indexOf(project) + 1)) {
    const below = folder.slice(inFolder(project, "").length);
    usings.add(below === "" ? root : `${root}.${below.replaceAll("/", ".")}`);
  }
  return [...usings];
}

async function readUsings(
  files: Files,
  folder: string,
  { projects, sources }: { projects: readonly string[]; sources: readonly string[] },
): Promise<readonly string[]> {
  const shared = foldersAbove(`${folder}/x`).flatMap((own) => SHARED.map((name) => inFolder(own, name)));
  const texts = await files.textsOf([...projects, ...shared.filter((own) => files.has(own))]);
  const found = new Set(texts.flatMap((text) => usingsIn(text ?? "")));
  for (const source of sources)
    for (const star of (await files.uses(source))?.stars ?? [])
      if (star.startsWith(GLOBAL_USING)) found.add(star.slice(GLOBAL_USING.length));
  return [...found].slice(0, MAX_USINGS);
}

/** The namespaces of `<Using Include="…" />` in a file of MSBuild. */
function usingsIn(text: string): string[] {
  if (text.length > MAX_TEXT) return [];
  return [...text.matchAll(USING)].flatMap(([element]) => {
    const names = NO_NAMESPACE.test(element) ? "" : (NAMESPACES.exec(element)?.[1] ?? "");
    return names
      .split(";")
      .map((name) => name.trim())
      .filter((name) => name !== "");
  });
}
