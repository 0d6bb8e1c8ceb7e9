/**
 * The indexer's schedules on this machine. The frequent one runs at the start too, because a kill may have left runs that never started.
 * The daily one runs when it is overdue: the time of its last success is kept in the data directory, so that a stack that is restarted
 * every day is cleaned up too.
 */
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { SECRETS_FILE } from "./local-secrets.ts";

/** The schedules of the indexer's wrangler.toml. */
export const DAILY_CRON = "17 3 * * *";
export const FREQUENT_CRON = "* * * * *";
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Wait after a daily job that failed. */
const RETRY_MS = 60 * MINUTE_MS;
const FILE = "clean-up.json";
const VERSION = 1;

interface Schedules {
  /** Runs what is due now. */
  tick(): Promise<void>;
  /** Runs the daily job now. */
  runDaily(): Promise<void>;
  stop(): void;
}

interface ScheduleOptions {
  dataDir: string;
  /** Runs the indexer's job of a schedule. */
  run: (cron: string) => Promise<void>;
  onError: (error: unknown) => void;
  now?: () => number;
}

/** Starts the schedules; the first jobs that are due start at once. */
export function startSchedules({ dataDir, run, onError, now = Date.now }: ScheduleOptions): Schedules {
  const file = path.join(dataDir, FILE);
  let dailyFrom = lastCleanUp(dataDir, now()) + DAY_MS;
  const runDaily = async () => {
    dailyFrom = Infinity;
    try {
      await run(DAILY_CRON);
      writeFileSync(`${file}.new`, JSON.stringify({ version: VERSION, finishedAt: new Date(now()).toISOString() }));
      renameSync(`${file}.new`, file);
      dailyFrom = now() + DAY_MS;
    } finally {
      if (dailyFrom === Infinity) dailyFrom = now() + RETRY_MS;
    }
  };
  const tick = async () => {
    // The daily job may take long; the frequent one goes on meanwhile.
    const jobs = [run(FREQUENT_CRON), ...(now() >= dailyFrom ? [runDaily()] : [])];
    for (const done of await Promise.allSettled(jobs)) if (done.status === "rejected") onError(done.reason);
  };
  const timer = setInterval(() => void tick(), MINUTE_MS);
  timer.unref();
  void tick();
  return { tick, runDaily, stop: () => clearInterval(timer) };
}

/** When the daily job last succeeded, as Unix milliseconds; the creation of the data directory if it never has. */
function lastCleanUp(dataDir: string, now: number): number {
  let finishedAt = NaN;
  try {
    const stored = JSON.parse(readFileSync(path.join(dataDir, FILE), "utf8")) as {
      version?: unknown;
      finishedAt?: unknown;
    };
    if (stored.version === VERSION) finishedAt = Date.parse(String(stored.finishedAt));
  } catch {
    // Missing, or damaged by a crash.
  }
  if (Number.isNaN(finishedAt)) finishedAt = statSync(path.join(dataDir, SECRETS_FILE)).mtimeMs;
  // A clock that was wrong must not postpone the job for longer than a day.
  return Math.min(finishedAt, now);
}
