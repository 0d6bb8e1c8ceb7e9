import { detectLanguage, SHEBANG_BYTES } from "../../engines/parsing/detect.ts";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import { nameVerdict } from "../../engines/parsing/name-verdict.ts";
import { isRacy, stampOf } from "./file-stat.ts";
import type { FileTree } from "./file-tree.ts";
import type { IgnoreRules } from "./ignore-rules.ts";

/** The indexed state of a file. */
export interface KnownFile {
  contentId: number;
  stat: string;
}

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
  /** Whether a known file is unchanged, from {@link checkKnown}. */
  same?: ReadonlyMap<string, boolean>;
}

/** Checks for every known file whether it is unchanged. */
export function checkKnown(tree: FileTree, known: ReadonlyMap<string, KnownFile>): Map<string, boolean> {
  const same = new Map<string, boolean>();
  for (const [path, before] of known) same.set(path, isUnchanged(tree, path, before));
  return same;
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
 * Compares the files of a work tree with their known states, using only `lstat`. Known files were already selected by name, so only
 * the tree's ignore rules are checked again.
 */
export function scanFiles(
  tree: FileTree,
  paths: readonly string[],
  rules: IgnoreRules,
  known: ReadonlyMap<string, KnownFile>,
  options: ScanOptions,
): Scan {
  const scan: Scan = { unchanged: [], changed: [], skipped: {} };
  for (const path of paths) {
    const before = known.get(path);
    const isSame = before !== undefined && (options.same?.get(path) ?? isUnchanged(tree, path, before));
    if (isSame && !rules.ignores(path)) scan.unchanged.push(path);
    else addChanged(scan, tree, path, rules, options);
  }
  return scan;
}

function isUnchanged(tree: FileTree, path: string, before: KnownFile): boolean {
  const stat = tree.lstat(path);
  return stat !== undefined && stampOf(stat) === before.stat;
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
