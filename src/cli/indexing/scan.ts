import { detectLanguage, SHEBANG_BYTES } from "../../engines/parsing/detect.ts";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import { nameVerdict } from "../../engines/parsing/name-verdict.ts";
import { isRacy, stampOf } from "./file-stat.ts";
import type { FileTree } from "./file-tree.ts";
import type { IgnoreRules } from "./ignore-rules.ts";

/** A file that was read: its content, and its stamp as in {@link ChangedFile}. */
export interface ReadFile {
  contentId: number;
  stat: string;
}

/** Stamps of the indexed files by path, see `stampOf`; empty for a file that must be read again. */
export type Stamps = ReadonlyMap<string, string>;

export interface ChangedFile {
  path: string;
  language: LanguageId;
  sizeBytes: number;
  /** Stamp to store with the content; empty if a later change could go unnoticed, so that the file is read again next time. */
  stat: string;
}

interface ScanOptions {
  maxFileSizeBytes: number;
  /** Time at which the scan begins. */
  nowMs: number;
  /** The known files that have changed, from {@link findChanged}. */
  changedSince: ReadonlySet<string>;
}

/** Paths of the known files that have changed or are gone. A file that `isSame` knows to be unchanged is not examined. */
export function findChanged(
  tree: FileTree,
  known: Stamps,
  isSame: (path: string) => boolean = () => false,
): Set<string> {
  const changed = new Set<string>();
  for (const [path, stamp] of known) if (!isSame(path) && !isUnchanged(tree, path, stamp)) changed.add(path);
  return changed;
}

export interface Scan {
  /** Paths of unchanged files. */
  unchanged: string[];
  changed: ChangedFile[];
  /** Files skipped for their name or size, by reason. */
  skipped: Record<string, number>;
}

/**
 * Language that a file is indexed as; undefined if it is skipped, which is counted by reason.
 *
 * @param interpreter language of the file's `#!` line; called only for files without a known extension
 */
export function selectPath(
  path: string,
  rules: IgnoreRules,
  skipped: Record<string, number>,
  interpreter: () => LanguageId | undefined,
): LanguageId | undefined {
  const verdict = nameVerdict(path);
  let reason = verdict.take ? "unknown_type" : verdict.reason;
  if (verdict.take && rules.ignores(path)) reason = "ignored";
  else if (verdict.take) {
    const language = verdict.language ?? interpreter();
    if (language !== undefined) return language;
  }
  skipped[reason] = (skipped[reason] ?? 0) + 1;
  return undefined;
}

/**
 * Tells the changed files of a work tree from the unchanged ones, using only `lstat`. Known files were already selected by name, so only
 * the tree's ignore rules are checked again.
 */
export function scanFiles(
  tree: FileTree,
  paths: readonly string[],
  rules: IgnoreRules,
  known: Stamps,
  options: ScanOptions,
): Scan {
  const scan: Scan = { unchanged: [], changed: [], skipped: {} };
  for (const path of paths) {
    const isSame = known.has(path) && !options.changedSince.has(path);
    if (isSame && !rules.ignores(path)) scan.unchanged.push(path);
    else addChanged(scan, tree, path, rules, options);
  }
  return scan;
}

function isUnchanged(tree: FileTree, path: string, stamp: string): boolean {
  const stat = tree.lstat(path);
  return stat !== undefined && stampOf(stat) === stamp;
}

function addChanged(
  scan: Scan,
  tree: FileTree,
  path: string,
  rules: IgnoreRules,
  { maxFileSizeBytes, nowMs }: ScanOptions,
): void {
  const interpreter = () => detectLanguage(path, tree.read(path, SHEBANG_BYTES));
  const language = selectPath(path, rules, scan.skipped, interpreter);
  if (language === undefined) return;
  const stat = tree.lstat(path);
  const reason = stat === undefined ? tree.irregular(path) : stat.size > maxFileSizeBytes ? "too_large" : undefined;
  if (reason !== undefined) scan.skipped[reason] = (scan.skipped[reason] ?? 0) + 1;
  if (reason !== undefined || stat === undefined) return;
  scan.changed.push({ path, language, sizeBytes: stat.size, stat: isRacy(stat, nowMs) ? "" : stampOf(stat) });
}
