import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { sha256 } from "../machine/checksum.ts";
import { makeFolder } from "../machine/folders.ts";
import { configDirectory, type Environment } from "../machine/paths.ts";
import { replaceFile } from "../machine/replace-file.ts";

/** Files in the record. The oldest is dropped beyond that; undoing it removes the entry and does not restore the text. */
const MAX_FILES = 500;

/** Maximum folders of a file in the record; settings are never that deep. */
const MAX_FOLDERS = 100;

/** The change of a file, to reverse it. Only the changed part is kept, because the rest may hold keys of other servers. */
const changeSchema = z.object({
  /** SHA-256 of the text that was written. */
  written: z.string(),
  /** The file did not exist. */
  created: z.boolean(),
  /** UTF-16 units: where the changed part begins, and its length in the text that was written. */
  start: z.int().min(0),
  length: z.int().min(0),
  /** The part as it was before. */
  text: z.string(),
  /** Folders that were made for the file, outermost first; absent in records of earlier versions. */
  folders: z.array(z.string()).max(MAX_FOLDERS).optional(),
});
const recordSchema = z.object({ version: z.literal(1), files: z.record(z.string(), changeSchema) });

type SetupRecord = z.infer<typeof recordSchema>;

const hashOf = (text: string): string => sha256(Buffer.from(text)).toString("hex");
const recordFile = (env: Environment): string => join(configDirectory(env), "setup.json");

/** A file as it was before setup. */
interface Original {
  /** Undefined: there was no file. */
  text: string | undefined;
  /** Folders that setup made for the file, outermost first. */
  folders?: readonly string[];
}

interface Written {
  file: string;
  /** Undefined: there was no file. */
  before: string | undefined;
  after: string;
  /** Folders that were made for the file, outermost first. */
  folders: readonly string[];
}

/** Remembers how to undo that `after` was written over `before`. */
export function rememberChange(env: Environment, { file, before, after, folders }: Written): void {
  const { files } = readRecord(env);
  // Undoing a second setup restores the text from before the first.
  const original = before === undefined ? undefined : originalOf(files, file, before);
  const old = original === undefined ? before : original.text;
  const { [file]: _, ...others } = files;
  const kept = Object.entries(others).slice(1 - MAX_FILES);
  const made = (original?.folders ?? folders).slice(-MAX_FOLDERS);
  const change = { ...changeOf(old, after), ...(made.length > 0 && { folders: made }) };
  writeRecord(env, { version: 1, files: { ...Object.fromEntries(kept), [file]: change } });
}

/** What stood in a file before setup wrote `current`; undefined if something else has changed it since. */
export function originalText(env: Environment, file: string, current: string): Original | undefined {
  return originalOf(readRecord(env).files, file, current);
}

export function forgetChange(env: Environment, file: string): void {
  const { files } = readRecord(env);
  if (!Object.hasOwn(files, file)) return;
  const { [file]: _, ...others } = files;
  writeRecord(env, { version: 1, files: others });
}

function originalOf(files: SetupRecord["files"], file: string, current: string): Original | undefined {
  const change = Object.hasOwn(files, file) ? files[file] : undefined;
  if (change === undefined || change.written !== hashOf(current)) return undefined;
  if (change.created) return { text: undefined, ...(change.folders && { folders: change.folders }) };
  return { text: current.slice(0, change.start) + change.text + current.slice(change.start + change.length) };
}

function changeOf(before: string | undefined, after: string): SetupRecord["files"][string] {
  const written = hashOf(after);
  if (before === undefined) return { written, created: true, start: 0, length: after.length, text: "" };
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return {
    written,
    created: false,
    start,
    length: after.length - end - start,
    text: before.slice(start, before.length - end),
  };
}

/** An unreadable record, or one of a later version, counts as none: undoing then removes the entry alone. */
function readRecord(env: Environment): SetupRecord {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(recordFile(env), "utf8")));
  } catch {
    return { version: 1, files: {} };
  }
}

function writeRecord(env: Environment, record: SetupRecord): void {
  makeFolder(configDirectory(env));
  replaceFile(recordFile(env), `${JSON.stringify(record)}\n`, 0o600);
}
