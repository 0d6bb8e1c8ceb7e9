import { detectLanguage, isDefaultIncluded } from "../../parsing/detect.ts";
import type { LanguageId } from "../../parsing/languages.ts";
import { skipReason } from "../../parsing/skip.ts";
import { type FileStat, isRacy, lstatFile, stampOf } from "./file-stat.ts";
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
  /** Its content, where somebody vouches for it. */
  contentId?: number | undefined;
}

/** Content of a file that somebody vouches for, so that it need not be read. */
export interface VouchedFile {
  contentId: number;
  /** As {@link selectPath} found it, with this version of the parser. */
  language: LanguageId;
  sizeBytes: number;
  /** Where this is known to be the file's state, not even that is asked for. */
  stat: FileStat | undefined;
}

export interface ScanOptions {
  maxFileSizeBytes: number;
  /** Time at which the look at the work tree begins. */
  nowMs: number;
  vouched?: ((path: string) => VouchedFile | undefined) | undefined;
  /** Known files of which it is certain since then that they are as they were, or are not. */
  same?: ReadonlyMap<string, boolean>;
}

/** Looks at every known file: whether it is as it was. */
export function lookAtKnown(root: string, known: ReadonlyMap<string, KnownFile>): Map<string, boolean> {
  const same = new Map<string, boolean>();
  for (const [path, before] of known) {
    const stat = lstatFile(root, path);
    same.set(path, stat !== undefined && stampOf(stat) === before.stat);
  }
  return same;
}

export interface Scan {
  /** Paths whose content is the known one. */
  unchanged: string[];
  changed: ChangedFile[];
  /** Files left out by name or size, by reason. */
  skipped: Record<string, number>;
}

/** Whether a path is indexed, and as what. Counts the reason where it is not and somebody might wonder. */
export function selectPath(path: string, rules: IgnoreRules, skipped: Record<string, number>): LanguageId | undefined {
  if (!isDefaultIncluded(path)) return undefined;
  const reason = skipReason(path) ?? (rules.ignores(path) ? "ignored" : undefined);
  if (reason === undefined) return detectLanguage(path);
  skipped[reason] = (skipped[reason] ?? 0) + 1;
  return undefined;
}

/**
 * Compares the files of a work tree with what is known of them, by `lstat` alone. A known file is one that was selected by
 * its name: only the rules of the tree itself are asked again.
 */
export function scanFiles(
  root: string,
  paths: readonly string[],
  rules: IgnoreRules,
  known: ReadonlyMap<string, KnownFile>,
  options: ScanOptions,
): Scan {
  const { vouched, same, nowMs } = options;
  const scan: Scan = { unchanged: [], changed: [], skipped: {} };
  for (const path of paths) {
    const proof = vouched?.(path);
    const stat = proof?.stat;
    const before = known.get(path);
    const isSame = before !== undefined && (same?.get(path) ?? isAsBefore(root, path, before, proof));
    const isIgnored = (isSame || stat !== undefined) && rules.ignores(path);
    if (isSame && !isIgnored) scan.unchanged.push(path);
    else if (proof && stat && !isIgnored) scan.changed.push(changedFile(path, proof.language, stat, nowMs, proof));
    else addChanged(scan, root, path, rules, proof, options);
  }
  return scan;
}

function isAsBefore(root: string, path: string, before: KnownFile, proof: VouchedFile | undefined): boolean {
  const stat = proof?.stat ?? lstatFile(root, path);
  if (stat === undefined || stampOf(stat) !== before.stat) return false;
  return proof === undefined || proof.contentId === before.contentId;
}

function addChanged(
  scan: Scan,
  root: string,
  path: string,
  rules: IgnoreRules,
  proof: VouchedFile | undefined,
  { maxFileSizeBytes, nowMs }: ScanOptions,
): void {
  const language = selectPath(path, rules, scan.skipped);
  const stat = language && lstatFile(root, path);
  if (language === undefined || stat === undefined) return;
  if (stat.size <= maxFileSizeBytes) scan.changed.push(changedFile(path, language, stat, nowMs, proof));
  else scan.skipped["too-large"] = (scan.skipped["too-large"] ?? 0) + 1;
}

function changedFile(
  path: string,
  language: LanguageId,
  stat: FileStat,
  nowMs: number,
  proof: VouchedFile | undefined,
): ChangedFile {
  const racy = isRacy(stat, nowMs);
  // The bytes of a work tree may differ from those of the commit: line endings, encodings and Git LFS change their number.
  const isProven = !racy && proof?.sizeBytes === stat.size && proof.language === language;
  return {
    path,
    language,
    sizeBytes: stat.size,
    stat: racy ? "" : stampOf(stat),
    contentId: isProven ? proof.contentId : undefined,
  };
}
