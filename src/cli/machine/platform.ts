/**
 * What differs between operating systems. Nothing else in the command line asks which one it runs on. The rules for Windows and macOS
 * were written from the documentation of Node, git and the systems; docs/cli.md says what has been run where.
 */
import { existsSync, realpathSync, renameSync } from "node:fs";
import nodePath, { type PlatformPath } from "node:path";

const isWindows = (platform: string): boolean => platform === "win32";

/** Waits before the attempts to rename after the first, in milliseconds; 1.6 s in all. */
const RENAME_WAITS_MS = [10, 20, 50, 100, 200, 400, 800];

/** Errors of a rename on Windows while another program, such as a virus scanner, has one of the files open. */
const IN_USE = new Set(["EPERM", "EACCES", "EBUSY"]);

/**
 * Renames a file; one of the new name is replaced. On Windows it waits up to 1.6 s, without yielding, for another program that has a
 * file open. Throws what `renameSync` throws.
 */
export function renameFile(from: string, to: string, rename = renameSync, platform: string = process.platform): void {
  for (const waitMs of isWindows(platform) ? RENAME_WAITS_MS : []) {
    try {
      return rename(from, to);
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || !IN_USE.has(String(error.code))) throw error;
      // Up to a quarter longer, so that two processes do not meet again.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs * (1 + Math.random() / 4));
    }
  }
  rename(from, to);
}

/** The absolute path without symbolic links, and with the case of the file system where that ignores case. */
export function realPath(path: string): string {
  return realpathSync.native(path);
}

/** A path relative to a folder, with `/`; empty for the folder itself, undefined for what is outside. Both paths are absolute. */
export function pathWithin(folder: string, path: string, paths: PlatformPath = nodePath): string | undefined {
  const inside = paths.relative(folder, path).split(paths.sep).join("/");
  // Another drive has no relative path.
  return inside === ".." || inside.startsWith("../") || paths.isAbsolute(inside) ? undefined : inside;
}

/**
 * What to start for a program that lies in PATH. On Windows its file, because Windows would look in the current folder first, which may be a
 * checkout that brings a program of that name; undefined if PATH does not have it. `path`: the value of PATH.
 */
export function programFile(
  name: string,
  path: string | undefined = process.env["PATH"],
  platform: string = process.platform,
  exists: (file: string) => boolean = existsSync,
): string | undefined {
  if (!isWindows(platform)) return name;
  const { win32 } = nodePath;
  const folders = (path ?? "").split(win32.delimiter).map((folder) => folder.replace(/^"(.*)"$/, "$1"));
  // Folders such as `.` and `\\bin` depend on the current one.
  const files = folders
    .filter((folder) => /^(?:[a-z]:[\\/]|\\\\)/i.test(folder))
    .map((folder) => win32.join(folder, `${name}.exe`));
  return files.find(exists);
}

/** The pager of who has not chosen one. Windows has `more`, which shows neither colours nor links. */
export const defaultPager = (platform: string = process.platform): string => (isWindows(platform) ? "" : "less");

/** What a shell is given, so that it takes programs from PATH alone: that of Windows looks in the current folder first, as above. */
export const shellVariables = (platform: string = process.platform): Record<string, string> =>
  isWindows(platform) ? { NoDefaultCurrentDirectoryInExePath: "1" } : {};

/** Whether the exit code of a shell says that there is no such command. Windows has the code of any failure for that. */
export const isNoCommand = (code: number | null, platform: string = process.platform): boolean =>
  isWindows(platform) ? code !== 0 : code === 127;

/** The flag to open a file of one's own with that is only to be flushed: Windows flushes none that was opened for reading. */
export const FLUSHABLE = "r+";

/** Whether the bits of a file's mode say who may read it. */
export const hasModes = (platform: string = process.platform): boolean => !isWindows(platform);

/** Whether git compares the time of a file's last change of state; on Windows it takes that of its creation. */
export const hasChangeTimes = (platform: string = process.platform): boolean => !isWindows(platform);

/** Whether the limit on file sizes sends a signal, which ends a process without a handler. */
export const hasFileSizeSignal = (platform: string = process.platform): boolean => !isWindows(platform);

/** Names of the file that starts a command of an npm package. */
export const commandFiles = (name: string, platform: string = process.platform): string[] =>
  isWindows(platform) ? [`${name}.cmd`] : [name];

/** How another program starts a command of an npm package, which on Windows is a script that many start only through a shell. */
export const packageCommand = (
  name: string,
  args: readonly string[],
  platform: string = process.platform,
): { command: string; args: string[] } =>
  isWindows(platform) ? { command: "cmd", args: ["/c", name, ...args] } : { command: name, args: [...args] };
