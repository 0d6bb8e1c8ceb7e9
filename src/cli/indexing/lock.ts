import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { CliError, EXIT } from "../exit-codes.ts";
import { makeFolder } from "../machine/folders.ts";

const POLL_MS = 200;
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

interface WriteLock {
  release(): void;
}

interface LockOptions {
  /** Command of this process, shown to waiting processes. */
  command: string;
  waitMs: number;
  signal?: AbortSignal | undefined;
  /** Called once when another process holds the lock. */
  onWait?: (holder: string) => void;
}

/** Names of the lock file. If one is not a database, the next is used. */
export const LOCK_FILES = ["lock.sqlite", "lock-2.sqlite", "lock-3.sqlite"];

/**
 * Takes the write lock of an index: an exclusive transaction on a separate SQLite file. The operating system releases it when the
 * process dies.
 */
export async function takeWriteLock(directory: string, options: LockOptions): Promise<WriteLock> {
  makeFolder(directory);
  const noteFile = join(directory, "lock.json");
  const deadline = Date.now() + options.waitMs;
  let file = 0;
  let db = openLock(directory, file);
  for (let tries = 0; ; tries++) {
    try {
      db.exec("begin exclusive");
      break;
    } catch (error) {
      const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
      if (code !== SQLITE_BUSY) db.close();
      if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) {
        if (++file === LOCK_FILES.length) throw error;
        db = openLock(directory, file);
        continue;
      }
      if (code !== SQLITE_BUSY) throw error;
    }
    const holder = describeHolder(noteFile);
    if (tries === 0) options.onWait?.(holder);
    if (Date.now() >= deadline) {
      db.close();
      throw new CliError(EXIT.busy, "INDEX_BUSY", `the local index is being written by ${holder}`);
    }
    try {
      await sleep(POLL_MS, undefined, options.signal ? { signal: options.signal } : {});
    } catch {
      db.close();
      throw new CliError(EXIT.interrupted, "ABORTED", "interrupted");
    }
  }
  const release = (): void => {
    try {
      rmSync(noteFile, { force: true });
    } catch {
      // Another program has it open, on Windows. The next holder writes it anew.
    }
    db.exec("rollback");
    db.close();
  };
  try {
    const note = { pid: process.pid, command: options.command, since: new Date().toISOString() };
    writeFileSync(noteFile, JSON.stringify(note));
  } catch (error) {
    // The disk is full, for example. A server that goes on must not keep the lock.
    release();
    throw error;
  }
  return { release };
}

function openLock(directory: string, file: number): DatabaseSync {
  return new DatabaseSync(join(directory, LOCK_FILES[file] ?? ""), { timeout: 0 });
}

function describeHolder(noteFile: string): string {
  try {
    const note = JSON.parse(readFileSync(noteFile, "utf8")) as { pid: number; command: string; since: string };
    return `\`codectx ${note.command}\` (process ${note.pid}, since ${note.since})`;
  } catch {
    return "another codectx";
  }
}
