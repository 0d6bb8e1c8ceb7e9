/**
 * `npm run bench -- search --eval DIR --repos DIR [--data DIR] [--only warm,cold,memory,cost,push,ts_rank] [--one]`
 *
 * Hosted search over HTTP on the local stack, in a workspace of all repositories and in one of four copies of them: latency warm and
 * in a new isolate, for one client and for sixteen, beside `ts_rank` in the same database; memory of the isolate; round trips and bytes
 * of a query; bytes that a push of one file writes. `DIR`s as for `retrieval`. `--data` keeps what is indexed for the next time: it
 * takes a quarter of an hour. `--one` leaves the four copies out.
 */
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import path from "node:path";
import { parseArgs } from "node:util";
import { startGitServer } from "../src/tooling/local/git/git-server.ts";
import { freePort } from "../src/tooling/local/stack/ports.ts";
import type { RunningService } from "../src/tooling/local/stack/service.ts";
import { isSearchable } from "../src/service/hosted-index/store.ts";
import { watchIsolate } from "./isolate-memory.ts";
import { startBenchService } from "./hosted/team.ts";
import { indexedWorkspace, indexWorkspace } from "./hosted/workspace.ts";
import { quantile } from "./retrieval/metrics.ts";
import { ALL, commitAll, HALVES, makeCorpus, ONE } from "./search/corpus.ts";
import { countCosts, listBytes } from "./search/costs.ts";
import { benchTsRank } from "./search/ts-rank.ts";
import { evaluationFolders, median, mib, temporaryFolder, timed } from "./support.ts";

const SHORT_QUERIES = 200;
const CLIENTS = [1, 16];
const COLD_STARTS = 7;
const PARTS = ["warm", "cold", "memory", "cost", "push", "ts_rank"] as const;
/** Workspaces of different size, and what is printed of them. */
const SIZES = [
  [ONE, "one copy"],
  [ALL, "four copies"],
] as const;

interface Bench {
  running: RunningService;
  /** By name of the repository. */
  workspaces: Map<string, string>;
  shorts: string[];
  issues: string[];
  inspectorPort: number;
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      eval: { type: "string" },
      repos: { type: "string" },
      data: { type: "string" },
      only: { type: "string" },
      one: { type: "boolean", default: false },
    },
  });
  const { evalFolder, repos } = evaluationFolders(values);
  const folder = path.resolve(values.data ?? temporaryFolder("search"));
  const served = path.join(folder, "repos");
  makeCorpus(served, repos);
  const wanted = new Set(values.only?.split(",") ?? PARTS);
  const sizes = values.one ? SIZES.slice(0, 1) : SIZES;
  const git = await startGitServer(served);
  const start = async (): Promise<Bench> => {
    const inspectorPort = await freePort();
    const running = await startBenchService(path.join(folder, "data"), inspectorPort);
    const workspaces = new Map<string, string>();
    const names = [...sizes.map(([name]) => name), ...(wanted.has("memory") ? HALVES : [])];
    for (const name of names)
      workspaces.set(name, await indexedWorkspace(running, { name, url: `${git.origin}/${name}` }, isIndexed));
    return { running, workspaces, ...readQueries(evalFolder), inspectorPort };
  };
  let bench = await start();
  try {
    if (wanted.has("memory")) await benchMemory(bench, sizes);
    if (wanted.has("warm")) await benchWarm(bench, sizes);
    if (wanted.has("cost"))
      for (const [name, label] of sizes)
        await countCosts(bench.running, bench.workspaces.get(name) ?? "", label, bench);
    if (wanted.has("push")) await benchPush(bench, served, git.origin);
    if (wanted.has("ts_rank")) await benchTsRank(bench.running, bench.workspaces.get(ONE) ?? "", bench);
    if (wanted.has("cold")) {
      const first: number[] = [];
      for (let i = 0; i < COLD_STARTS; i++) {
        await bench.running.stop();
        bench = await start();
        // The key, the limits and the connection to the database are warm; the isolate has read no index.
        await get(bench, "/usage");
        first.push((await ask(bench, ONE, bench.shorts[i] ?? "")).ms);
      }
      console.log(`first query of an isolate  ${figures(first)}`);
    }
  } finally {
    await bench.running.stop();
    await git.close();
  }
}

function readQueries(folder: string): { shorts: string[]; issues: string[] } {
  const json = <T>(file: string): T => JSON.parse(readFileSync(path.join(folder, file), "utf8")) as T;
  const all = readdirSync(path.join(folder, "semble"))
    .filter((file) => file.endsWith(".json") && file !== "repos.json")
    .toSorted()
    .flatMap((file) => json<{ query: string }[]>(`semble/${file}`).map(({ query }) => query));
  const step = Math.max(1, Math.floor(all.length / SHORT_QUERIES));
  return {
    shorts: all.filter((_, i) => i % step === 0).slice(0, SHORT_QUERIES),
    issues: json<{ query: string }[]>("issues/dev.json").map(({ query }) => query),
  };
}

const isIndexed = ({ searchTable }: { searchTable: string | null }): boolean =>
  isSearchable({ searchTable, searchVectors: null }, false);

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** A request to the api Worker itself, without what this machine puts in front. */
function send(
  { running }: Bench,
  method: string,
  route: string,
  body?: unknown,
): Promise<{ ms: number; text: string }> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        agent,
        host: "127.0.0.1",
        port: running.stack.apiWorkerPort,
        method,
        path: route,
        headers: { Authorization: `Bearer ${running.service.apiKey}`, "Content-Type": "application/json" },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () => {
          const text = Buffer.concat(parts).toString();
          if (response.statusCode === 200) resolve({ ms: performance.now() - startedAt, text });
          else reject(new Error(`${route}: ${response.statusCode} ${text.slice(0, 300)}`));
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const get = (bench: Bench, route: string) => send(bench, "GET", route);

const ask = (bench: Bench, name: string, query: string) =>
  send(bench, "POST", "/search", { query, workspaceId: bench.workspaces.get(name) });

/** Asks all queries, `clients` at a time; latencies in milliseconds. */
async function askAll(bench: Bench, name: string, queries: readonly string[], clients: number): Promise<number[]> {
  const latencies: number[] = [];
  const left = [...queries];
  const client = async () => {
    for (let query = left.shift(); query !== undefined; query = left.shift())
      latencies.push((await ask(bench, name, query)).ms);
  };
  await Promise.all(Array.from({ length: clients }, client));
  return latencies;
}

const figures = (ms: readonly number[]): string =>
  [0.5, 0.95, 0.99].map((q) => `p${q * 100} ${quantile(ms, q).toFixed(1)} ms`).join(", ");

async function benchWarm(bench: Bench, sizes: readonly (readonly [name: string, label: string])[]): Promise<void> {
  const { shorts, issues } = bench;
  for (const [name, label] of sizes) {
    for (const [kind, queries] of [
      ["short queries", shorts],
      ["issue texts", issues],
    ] as const) {
      await askAll(bench, name, queries, 4);
      for (const clients of CLIENTS) {
        const { ms, value } = await timed(() => askAll(bench, name, queries, clients));
        const rate = ((1_000 * queries.length) / ms).toFixed(0);
        console.log(`${label}, ${kind}, ${String(clients).padStart(2)} at a time  ${figures(value)}  (${rate}/s)`);
      }
    }
  }
}

async function benchMemory(bench: Bench, sizes: readonly (readonly [name: string, label: string])[]): Promise<void> {
  const isolate = await watchIsolate(bench.inspectorPort, "code-context-api");
  const names = [...bench.workspaces.keys()];
  const live: number[] = [];
  for (let round = 0; round < 3; round++) {
    for (const name of names) {
      await askAll(bench, name, [...bench.shorts.slice(0, 10), ...bench.issues.slice(0, 3)], 4);
      live.push(await isolate.liveBytes());
    }
  }
  console.log(
    `memory of the isolate      ${mib(isolate.startBytes)} before; with ${names.length} workspaces in turn ${mib(Math.max(...live))} in use, ${mib(isolate.peakBytes())} with garbage`,
  );
  const loads = [
    ["short queries", bench.shorts, 16],
    ["issue texts", bench.issues, 1],
    ["issue texts", [...bench.issues, ...bench.issues], 16],
  ] as const;
  for (const [name, label] of sizes) {
    for (const [kind, queries, clients] of loads) {
      isolate.restart();
      await askAll(bench, name, queries, clients);
      const { heapBytes, bufferBytes } = isolate.peaks();
      console.log(
        `${label}, ${kind}, ${String(clients).padStart(2)} at a time  ${mib(await isolate.liveBytes())} in use, ${mib(isolate.peakBytes())} with garbage (heap ${mib(heapBytes)}, buffers ${mib(bufferBytes)} at most)`,
      );
    }
  }
  isolate.stop();
}

/** What pushes of one changed file each write. */
async function benchPush({ running, workspaces }: Bench, served: string, origin: string): Promise<void> {
  const written: { segments: number; tables: number; vectors: number }[] = [];
  const tree = path.join(served, ONE);
  const file = path.join(tree, "copy-0/requests/src/requests/sessions.py");
  for (let push = 0; push < 5; push++) {
    const before = await listBytes(running);
    appendFileSync(file, `\n# one more line ${Date.now()}\n`);
    commitAll(tree, "one file");
    await indexWorkspace(running.service, workspaces.get(ONE) ?? "", `${origin}/${ONE}`);
    const fresh = [...(await listBytes(running))].filter(([key]) => !before.has(key));
    const sum = (kind: string) =>
      fresh.filter(([key]) => key.includes(`/${kind}/`)).reduce((bytes, [, own]) => bytes + own, 0);
    written.push({ segments: sum("segments"), tables: sum("tables"), vectors: sum("vectors") });
  }
  const of = (kind: keyof (typeof written)[number]) =>
    `${(median(written.map((own) => own[kind])) / 1024).toFixed(0)} KB`;
  const most = Math.max(...written.map(({ segments, vectors }) => segments + vectors));
  console.log(
    `one-file push writes       segments ${of("segments")} (${(most / 1024).toFixed(0)} KB at most), table ${of("tables")}`,
  );
}
