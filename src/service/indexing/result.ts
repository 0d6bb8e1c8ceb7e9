/** The result of a finished run, and the part of it that is stored with its revision. */
import type { IndexResult } from "../../contract/index.ts";
import type { StepContext } from "./context.ts";
import type { Revision } from "../revisions/files.ts";
import type { WorkCounters } from "../runs/state.ts";

/** Figures of a whole revision. */
export interface Totals {
  files: number;
  symbols: number;
  chunks: number;
  redacted: number;
  fallbacks: number;
  partials: number;
}

export const NO_TOTALS: Totals = { files: 0, symbols: 0, chunks: 0, redacted: 0, fallbacks: 0, partials: 0 };

/** The totals of a revision, from those of its base and what the revision's rows add. */
export function addTotals(base: Totals, change: Totals): Totals {
  return {
    files: base.files + change.files,
    symbols: base.symbols + change.symbols,
    chunks: base.chunks + change.chunks,
    redacted: base.redacted + change.redacted,
    fallbacks: base.fallbacks + change.fallbacks,
    partials: base.partials + change.partials,
  };
}

const SKIP_PREFIX = "skipped.";

/** Content of a revision's `stats`. */
export function toStats(totals: Totals, skipped: Record<string, number>, searchedOnly: number): Record<string, number> {
  const entries = Object.entries(skipped).map(([reason, count]) => [SKIP_PREFIX + reason, count]);
  const { redacted, fallbacks, partials } = totals;
  return { ...Object.fromEntries(entries), redacted, fallbacks, partials, searchedOnly };
}

/** The totals of a stored revision. */
export function totalsOf({ fileCount, symbolCount, chunkCount, stats }: Revision): Totals {
  return {
    files: fileCount,
    symbols: symbolCount,
    chunks: chunkCount,
    redacted: stats["redacted"] ?? 0,
    fallbacks: stats["fallbacks"] ?? 0,
    partials: stats["partials"] ?? 0,
  };
}

function skippedOf({ stats }: Revision): Record<string, number> {
  const skips = Object.entries(stats).filter(([name]) => name.startsWith(SKIP_PREFIX));
  return Object.fromEntries(skips.map(([name, count]) => [name.slice(SKIP_PREFIX.length), count]));
}

/** The wire form of a run that indexed `gitSha`. `freshFiles` counts files whose content was new to the tenant. */
export function toResult(
  step: StepContext,
  indexed: {
    gitSha: string;
    totals: Totals;
    skipped: Record<string, number>;
    freshFiles: number;
    searchedOnly: number;
  },
  work: WorkCounters,
): IndexResult {
  const { gitSha, totals, skipped, freshFiles, searchedOnly } = indexed;
  return {
    ok: true,
    runId: step.run.runId,
    fileCount: totals.files,
    symbolCount: totals.symbols,
    chunkCount: totals.chunks,
    embeddedCount: work.embedded,
    skippedUnchanged: Math.max(0, totals.files - freshFiles),
    embedMs: Math.round(work.embedMs),
    region: step.region,
    gitSha,
    redactedCount: totals.redacted,
    fallbackCount: totals.fallbacks,
    partialCount: totals.partials,
    skipped,
    searchedOnlyCount: searchedOnly,
  };
}

/** The wire form of a run that changed nothing. */
export function unchangedResult(step: StepContext, revision: Revision): IndexResult {
  const indexed = {
    gitSha: revision.gitSha,
    totals: totalsOf(revision),
    skipped: skippedOf(revision),
    freshFiles: 0,
    searchedOnly: revision.stats["searchedOnly"] ?? 0,
  };
  return toResult(step, indexed, { embedded: 0, embedMs: 0, tokens: 0 });
}
