import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../machine/folders.ts";
import { replaceFile } from "../machine/replace-file.ts";
import type { WorkTree } from "./git.ts";

/** A work tree, with the URL of the remote that identifies its repository. */
export interface LocatedTree extends WorkTree {
  remote: string | undefined;
}

/** An answer of git, with the state of the files that it was read from; undefined if they changed meanwhile. */
export interface KeptAnswer {
  tree: LocatedTree;
  state: string | undefined;
  /** Hashes of the names that the cache has for them (name-hash.ts). */
  hashes?: Record<string, string>;
}

/** Raised with every change of what is kept. */
const VERSION = 2;
const MAX_ANSWERS = 50;
const MAX_FILE_BYTES = 1024 * 1024;
/** An address that may hold a password. */
const WITH_USER = /^https?:\/\/[^/]*@/i;

interface LocatedFile {
  version: number;
  /** By folder, the one that was written last at the end. */
  answers: Record<string, KeptAnswer>;
}

/** What another process has kept for a folder. */
export function readKept(file: string, cwd: string): KeptAnswer | undefined {
  const kept = readAll(file);
  return Object.hasOwn(kept, cwd) ? kept[cwd] : undefined;
}

/** Keeps an answer. Whoever writes last wins: what is lost is asked of git again. */
export function writeKept(file: string, cwd: string, answer: KeptAnswer): void {
  if (WITH_USER.test(answer.tree.remote ?? "")) return;
  const { [cwd]: _, ...others } = readAll(file);
  const answers = Object.fromEntries([...Object.entries(others).slice(1 - MAX_ANSWERS), [cwd, answer]]);
  try {
    makeFolder(dirname(file));
    replaceFile(file, JSON.stringify({ version: VERSION, answers } satisfies LocatedFile), 0o600);
  } catch {
    // A full or read-only disk costs time, not the answer.
  }
}

function readAll(file: string): Record<string, KeptAnswer> {
  try {
    const bytes = readFileSync(file);
    const { version, answers } = JSON.parse(bytes.subarray(0, MAX_FILE_BYTES).toString()) as Partial<LocatedFile>;
    return version === VERSION && answers ? answers : {};
  } catch {
    return {};
  }
}
