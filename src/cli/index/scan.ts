import { lstatSync, type BigIntStats } from "node:fs";
import { join } from "node:path";
import { detectLanguage, isDefaultIncluded } from "../../parsing/detect.ts";
import type { LanguageId } from "../../parsing/languages.ts";
import { skipReason } from "../../parsing/skip.ts";
import type { IgnoreRules } from "./ignore-rules.ts";

/** A change within this time before the file was looked at may not show in its timestamps (the kernel's clock ticks in ms). */
const RACY_NS = 100_000_000n;
/** File systems that keep whole seconds: two of them, as FAT does. */
const COARSE_RACY_NS = 2_000_000_000n;
const NS_PER_SECOND = 1_000_000_000n;
const NS_PER_MS = 1_000_000n;

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

/** Compares the files of a work tree with what is known of them, by `lstat` alone. */
export function scanFiles(
  root: string,
  paths: readonly string[],
  rules: IgnoreRules,
  known: ReadonlyMap<string, KnownFile>,
  options: { maxFileSizeBytes: number; nowMs: number },
): Scan {
  const scan: Scan = { unchanged: [], changed: [], skipped: {} };
  const nowNs = BigInt(options.nowMs) * NS_PER_MS;
  for (const path of paths) {
    const language = selectPath(path, rules, scan.skipped);
    if (language === undefined) continue;
    const stats = lstatSync(join(root, path), { bigint: true, throwIfNoEntry: false });
    if (!stats?.isFile()) continue;
    if (stats.size > options.maxFileSizeBytes) {
      scan.skipped["too-large"] = (scan.skipped["too-large"] ?? 0) + 1;
      continue;
    }
    const stat = `${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}:${stats.ino}`;
    if (known.get(path)?.stat === stat) scan.unchanged.push(path);
    else {
      const sizeBytes = Number(stats.size);
      scan.changed.push({ path, language, sizeBytes, stat: isRacy(stats, nowNs) ? "" : stat });
    }
  }
  return scan;
}

function isRacy({ mtimeNs, ctimeNs }: BigIntStats, nowNs: bigint): boolean {
  const newest = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  const coarse = mtimeNs % NS_PER_SECOND === 0n && ctimeNs % NS_PER_SECOND === 0n;
  return newest > nowNs - (coarse ? COARSE_RACY_NS : RACY_NS);
}
