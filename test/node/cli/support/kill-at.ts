/**
 * Preloaded into a `codectx` process (`NODE_OPTIONS=--import`): logs each change of a search folder to the file CHANGES_LOG and, before
 * the change of number KILL_AT, ends the process with SIGKILL. A write is torn: half of its bytes are on disk.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname } from "node:path";
import { isMainThread } from "node:worker_threads";

const killAt = Number(process.env["KILL_AT"]);
const log = process.env["CHANGES_LOG"];
const { openSync, renameSync, rmSync, writeSync } = fs;
const writing = new Map<number, string>();
let count = 0;

function change(kind: string, path: string, tear?: () => void): void {
  if (!isMainThread || basename(dirname(path)) !== "search") return;
  if (log !== undefined) fs.appendFileSync(log, `${kind} ${path.slice(path.lastIndexOf("."))}\n`);
  if (++count !== killAt) return;
  tear?.();
  process.kill(process.pid, "SIGKILL");
}

fs.openSync = (path, ...rest) => {
  const handle = openSync(path, ...rest);
  if (String(path).endsWith(".tmp")) writing.set(handle, String(path).slice(0, -".tmp".length));
  else writing.delete(handle);
  return handle;
};
fs.writeSync = ((handle: number, bytes: Uint8Array, ...rest: number[]) => {
  const path = writing.get(handle);
  if (path !== undefined) change("write", path, () => writeSync(handle, bytes, 0, bytes.length >> 1));
  return writeSync(handle, bytes, ...rest);
}) as typeof fs.writeSync;
fs.renameSync = (from, to) => {
  change("rename", String(to));
  renameSync(from, to);
};
fs.rmSync = (path, options) => {
  change("remove", String(path));
  rmSync(path, options);
};
syncBuiltinESMExports();
