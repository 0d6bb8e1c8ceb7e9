import { detectLanguage, isDefaultIncluded, mayBeScript, SHEBANG_BYTES } from "../../parsing/detect.ts";
import type { LanguageId } from "../../parsing/languages.ts";
import { skipReason } from "../../parsing/skip.ts";
import { isRacy, stampOf } from "./file-stat.ts";
import type { FileTree } from "./file-tree.ts";
import type { IgnoreRules } from "./ignore-rules.ts";

/** What the index knows of a file from the last time. */
export interface KnownFile {
  contentId: number;
  stat: string;
}

export interface ChangedFile {
  path: string;
  language: LanguageId;
  sizeBytes: number;
  /** To be kept with the content; empty where a later change could go unnoticed, so that it is read again next time. */
  stat: string;
}

export interface ScanOptions {
  maxFileSizeBytes: number;
  /** Time at which the look at the work tree begins. */
  nowMs: number;
  /** Whether a known file is unchanged, from {@link lookAtKnown}. */
  same?: ReadonlyMap<string, boolean>;
}

/** Looks at every known file: whether it is as it was. */
export function lookAtKnown(tree: FileTree, known: ReadonlyMap<string, KnownFile>): Map<string, boolean> {
  const same = new Map<string, boolean>();
  for (const [path, before] of known) same.set(path, isUnchanged(tree, path, before));
  return same;
}

export interface Scan {
  /** Paths whose content is the known one. */
  unchanged: string[];
  changed: ChangedFile[];
  /** Files left out by name or size, by reason. */
  skipped: Record<string, number>;
}

/**
 * Language that a file is indexed as; undefined where it is left out, which is then counted by reason.
 *
 * @param interpreter language that the file's `#!` line names; asked only where the name says nothing of the type
 */
export function selectPath(
  path: string,
  rules: IgnoreRules,
  skipped: Record<string, number>,
  interpreter: () => LanguageId | undefined,
): LanguageId | undefined {
  const isScript = mayBeScript(path);
  let reason: string | undefined = isScript || isDefaultIncluded(path) ? skipReason(path) : "unknown_type";
  if (reason === undefined && rules.ignores(path)) reason = "ignored";
  const language = reason === undefined ? (isScript ? interpreter() : detectLanguage(path)) : undefined;
  if (language !== undefined) return language;
  reason ??= "unknown_type";
  skipped[reason] = (skipped[reason] ?? 0) + 1;
  return undefined;
}

/**
 * Compares the files of a work tree with their known states, by `lstat` alone. A known file is one that was selected by
 * its name: only the rules of the tree itself are asked again.
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
  const stat = language && tree.lstat(path);
  if (language === undefined || stat === undefined) return;
  if (stat.size > maxFileSizeBytes) scan.skipped["too-large"] = (scan.skipped["too-large"] ?? 0) + 1;
  else scan.changed.push({ path, language, sizeBytes: stat.size, stat: isRacy(stat, nowMs) ? "" : stampOf(stat) });
}
