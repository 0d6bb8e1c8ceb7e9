/**
 * Fixtures of pytest, which tests and other fixtures get by the names of their parameters: those of the class, of the file, and of `conftest.py`
 * in its folder and the folders above, the nearest first.
 */
import { splitMark } from "./marked-paths.ts";
import { folderOf } from "./modules.ts";
import type { Follower, Resolved } from "./resolved.ts";
import type { FileUses } from "./types.ts";

/** Module of the import that stands for a fixture. No module's name has a space. */
export const FIXTURES = "pytest fixtures";
/** As `FIXTURES`, for a fixture that gets another one of its own name: those of the file itself are left out. */
export const FIXTURES_ABOVE = "pytest fixtures above";
/** Prefix of a star import that stands for an entry of `pytest_plugins`: a module whose fixtures the file gets. */
export const PLUGIN = "pytest plugin ";

const PREFIX = "fixture ";
/** Key of the binding or member for a fixture, which need not have the name of its function. */
export const fixtureKey = (name: string): string => PREFIX + name;

/** Folders above a file whose fixtures it gets. */
const MAX_FOLDERS = 20;
/** Plugins of a file that are read. */
const MAX_PLUGINS = 20;

/** The function that a file gets as a fixture; `none` if the repository has none of the name, since pytest and its plugins bring their own. */
export async function fixtureNamed(follow: Follower, path: string, module: string, name: string): Promise<Resolved> {
  for (const file of filesAround(path)) {
    if (!follow.takesStep()) return "unknown";
    const uses = file === path && module === FIXTURES_ABOVE ? undefined : await follow.files.uses(file);
    const found = uses && (await fixtureIn(follow, file, uses, name));
    if (found) return found;
  }
  return "none";
}

/** The names of the fixtures that the function on a line of a file is. */
export const fixturesAt = ({ bindings }: Pick<FileUses, "bindings">, line: number): string[] =>
  [...bindings].flatMap(([key, of]) =>
    key.startsWith(PREFIX) && of.to === "local" && of.line === line ? [key.slice(PREFIX.length)] : [],
  );

async function fixtureIn(
  follow: Follower,
  path: string,
  uses: FileUses,
  name: string,
): Promise<Exclude<Resolved, string> | undefined> {
  const own = uses.bindings.get(fixtureKey(name));
  if (own?.to === "local") return { path, line: own.line };
  // What a file imports is its own.
  const found = await follow.nameOf(path, name);
  if (typeof found !== "string" && found.line !== undefined && found.path !== path) {
    const there = (await follow.files.uses(found.path))?.bindings.get(fixtureKey(name));
    if (there?.to === "local" && there.line === found.line) return found;
  }
  for (const star of uses.stars.filter((each) => each.startsWith(PLUGIN)).slice(0, MAX_PLUGINS)) {
    const plugin = await follow.resolve(path, { to: "import", module: star.slice(PLUGIN.length), name: "*" });
    if (typeof plugin === "string") continue;
    const bound = (await follow.files.uses(plugin.path))?.bindings.get(fixtureKey(name));
    if (bound?.to === "local") return { path: plugin.path, line: bound.line };
  }
  return undefined;
}

/** The file itself, and `conftest.py` in its folder and those above. */
function filesAround(path: string): Set<string> {
  const { mark, own } = splitMark(path);
  const files = new Set([path]);
  for (let folder = folderOf(own), i = 0; i <= MAX_FOLDERS; i++, folder = folderOf(folder)) {
    files.add(`${mark}${folder === "" ? "" : `${folder}/`}conftest.py`);
    if (folder === "") break;
  }
  return files;
}
