import { lstatSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { makeFolder } from "../machine/folders.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { findProject } from "../project.ts";
import { settingsFolder } from "../machine/paths.ts";
import { replaceFile } from "../machine/replace-file.ts";
import type { Client } from "./setup-clients.ts";

/** Larger files are no settings that a person keeps. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A client's settings: `path` below `root`, without a link between them. */
export interface Place {
  root: string;
  path: string;
  file: string;
  /** Whether the file belongs to the user, not to a project. */
  forUser: boolean;
}

/**
 * Where a client keeps its settings. In the user's home, links are followed, as people keep such files elsewhere. In a project they are
 * refused, because a checkout must not decide which other file is written. Throws `SYMLINK` and `NO_USER_FILE`.
 */
export async function placeOf(context: Context, client: Client, forUser: boolean): Promise<Place> {
  if (forUser || client.project === undefined) {
    if (client.user === undefined) {
      const text = `${client.title} keeps this in the project: run it without --user`;
      throw new CliError(EXIT.usage, "NO_USER_FILE", text);
    }
    const file = realFile(join(settingsFolder(context.env, client.user.base), client.user.path));
    return { root: dirname(file), path: basename(file), file, forUser: true };
  }
  const { root } = await findProject(context);
  const parts = client.project.split("/");
  for (let depth = 1; depth <= parts.length; depth++) {
    const part = parts.slice(0, depth).join("/");
    if (lstatSync(join(root, part), { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    const text = `${part} of the project is a symbolic link, which setup does not follow: replace it, or pass --user`;
    throw new CliError(EXIT.usage, "SYMLINK", text);
  }
  return { root, path: client.project, file: join(root, client.project), forUser: false };
}

/** The path without links, as far as it exists. */
function realFile(file: string): string {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) {
    const parent = dirname(file);
    return parent === file ? file : join(realFile(parent), basename(file));
  }
  try {
    return realpathSync(file);
  } catch (cause) {
    throw new CliError(EXIT.usage, "SYMLINK", `${file} is a symbolic link to nowhere: mend or remove it`, { cause });
  }
}

/** The text of the settings; undefined if there are none. Throws `NOT_A_FILE` for anything but a readable file of sensible size in UTF-8. */
export function readSettings({ root, path, file }: Place): string | undefined {
  const stat = statOf(file);
  if (stat === undefined) return undefined;
  const bytes = stat.isFile() && stat.size <= MAX_BYTES ? new FileTree(root).read(path) : undefined;
  const text = bytes && textOf(bytes);
  if (text !== undefined) return text;
  const why = !stat.isFile()
    ? "is not a regular file"
    : stat.size > MAX_BYTES
      ? "is too large"
      : bytes
        ? "is not in UTF-8"
        : "cannot be read";
  throw new CliError(EXIT.usage, "NOT_A_FILE", `${file} ${why}; nothing was changed`);
}

/** Undefined for bytes that would not be the same when they are written again. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Replaces the settings in one step, with the mode that they had. Returns the folders that it made, outermost first. */
export function writeSettings({ file, forUser }: Place, text: string): string[] {
  const mode = statOf(file)?.mode ?? (forUser ? 0o600 : 0o644);
  const made = makeFolder(dirname(file), forUser ? 0o700 : 0o755);
  replaceFile(file, text, mode & 0o777);
  return made;
}

function statOf(file: string): Stats | undefined {
  return lstatSync(file, { throwIfNoEntry: false });
}
