/**
 * `npm run bench -- scale [--measure]`: what a large deployment would take, from measured unit costs, and a simulation of the indexing queue.
 * Prints the tables of docs/scale.md; with `--measure`, measures the unit costs anew and prints them instead.
 */
import { MAX_WORKING_RUNS } from "../src/service/runs/fair-share.ts";
import { measureUnitCosts } from "./scale/measure.ts";
import { simulate } from "./scale/simulate.ts";

/** Of `--measure` on 2026-11-23: this project as the repository (1,316 files, 7.9 MB of text), builtin embedding. */
const MEASURED = {
  first: { rows: 32_280, postgresBytes: 18_317_312, objects: 26, objectBytes: 5_297_359 },
  /** A push that changes three files. `puts`: all writes to R2, staged objects included. */
  push: { rows: 93, postgresBytes: 57_344, objects: 5, objectBytes: 102_152, puts: 10 },
  /** A search of a tenant that nobody else uses at that moment: credential, revision, texts. It writes no row (2026-11-23). */
  search: { databaseReads: 3, objectRows: 3 },
  /** Rows that a gate writes to Postgres for all calls without credits of a quarter of an hour. */
  flush: { rows: 3, everySec: 900 },
};

/** Assumed, not measured. */
const ASSUMED = {
  repositories: 1_000_000,
  tenants: 100_000,
  pushesPerSec: 50,
  searchesPerSec: 2_000,
  /** The mean repository is this part of the measured one: 1.4 MB of text. */
  sizeShare: 0.18,
  /** Of so much text in one shard: pack, filter and list of texts, segment and table of search, tree and what was left out. */
  objectsPerRepository: 7,
  /** R2 reads of a search after the isolates' caches; 0 where all is cached. */
  readsPerSearch: 5,
  /** Durable Object requests: gate (admit, settle) of a search; coordinator, line and gate of a push. */
  objectCallsPerSearch: 2,
  objectCallsPerPush: 15,
  /** Messages of a push; each is written, read and deleted. */
  messagesPerPush: 1,
  /** Retention: revisions and objects of a repository beyond the current one, as a share of it. */
  historyShare: 0.2,
};

/** US dollars, from the providers' pages as of 2026 (docs/scale.md names them). */
const PRICES = {
  postgresGbMonth: 0.35,
  r2GbMonth: 0.015,
  r2WriteMillion: 4.5,
  r2ReadMillion: 0.36,
  objectCallMillion: 0.15,
  queueOperationMillion: 0.4,
  requestMillion: 0.3,
};

const SECONDS_A_MONTH = 2_592_000;

export async function run(args: string[]): Promise<void> {
  if (args.includes("--measure")) return console.log(await measureUnitCosts());
  const { repositories, sizeShare, historyShare } = ASSUMED;
  const { search, flush } = MEASURED;
  const kept = repositories * sizeShare * (1 + historyShare);
  const millions = (perSecond: number) => (perSecond * SECONDS_A_MONTH) / 1e6;
  const postgresGb = (kept * MEASURED.first.postgresBytes) / 1e9;
  const r2Gb = (kept * MEASURED.first.objectBytes) / 1e9;
  const writes = millions(ASSUMED.pushesPerSec * MEASURED.push.puts);
  const reads = millions(ASSUMED.searchesPerSec * ASSUMED.readsPerSearch);
  const calls = millions(
    ASSUMED.searchesPerSec * ASSUMED.objectCallsPerSearch + ASSUMED.pushesPerSec * ASSUMED.objectCallsPerPush,
  );
  const operations = millions(ASSUMED.pushesPerSec * ASSUMED.messagesPerPush * 3);
  const requests = millions(ASSUMED.searchesPerSec + 2 * ASSUMED.pushesPerSec);
  print("What it takes", [
    ["rows in Postgres", `${((kept * MEASURED.first.rows) / 1e9).toFixed(1)} billion`],
    ["bytes in Postgres", `${(postgresGb / 1_000).toFixed(1)} TB`],
    ["rows written a second: pushes", String(ASSUMED.pushesPerSec * MEASURED.push.rows)],
    ["rows written a second: searches", `at most ${Math.round((ASSUMED.tenants * flush.rows) / flush.everySec)}`],
    ["reads of searches a second", `at most ${ASSUMED.searchesPerSec * search.databaseReads}`],
    [
      "objects in R2",
      `${((repositories * ASSUMED.objectsPerRepository * (1 + historyShare)) / 1e6).toFixed(1)} million`,
    ],
    ["bytes in R2 without snapshots", `${(r2Gb / 1_000).toFixed(2)} TB`],
    [
      "R2 writes / reads a second",
      `${ASSUMED.pushesPerSec * MEASURED.push.puts} / ${ASSUMED.searchesPerSec * ASSUMED.readsPerSearch}`,
    ],
    ["Durable Object requests a second", String(Math.round((calls * 1e6) / SECONDS_A_MONTH))],
    ["rows written in gates by searches a second", String(ASSUMED.searchesPerSec * search.objectRows)],
  ]);
  const dollars = (amount: number) => `$${Math.round(amount).toLocaleString("en-US")}`;
  print("A month in dollars, without Postgres compute and models", [
    ["Postgres storage", dollars(postgresGb * PRICES.postgresGbMonth)],
    ["R2 storage", dollars(r2Gb * PRICES.r2GbMonth)],
    ["R2 writes", dollars(writes * PRICES.r2WriteMillion)],
    ["R2 reads", dollars(reads * PRICES.r2ReadMillion)],
    ["Durable Object requests", dollars(calls * PRICES.objectCallMillion)],
    ["queue operations", dollars(operations * PRICES.queueOperationMillion)],
    ["Worker requests", dollars(requests * PRICES.requestMillion)],
  ]);
  const load = {
    seed: 1,
    tenants: ASSUMED.tenants,
    pushesPerSec: ASSUMED.pushesPerSec,
    seconds: 600,
    runSec: 1,
    burst: 3_000,
  };
  const rows = [60, 100, 250].flatMap((workers) =>
    [MAX_WORKING_RUNS, Infinity].map((slots) => {
      const { waitP50, waitP99, burstDoneSec, maxQueued, maxInLine } = simulate({ ...load, workers, slots });
      const figures = [waitP50.toFixed(1), waitP99.toFixed(1), burstDoneSec.toFixed(0), maxQueued, maxInLine];
      return [`${workers} workers, ${slots === Infinity ? "no limit" : `${slots} slots`}`, figures.join("  ")];
    }),
  );
  print("Queue: wait p50, p99 (s) of the others; burst done (s); most queued; most in line", rows);
}

function print(title: string, rows: readonly (readonly string[])[]): void {
  console.log(`\n${title}`);
  for (const [name = "", value = ""] of rows) console.log(`  ${name.padEnd(36)} ${value}`);
}
