/**
 * `npm run bench -- gateway [--rounds N] [--seconds S] [--connections C] [--dimension D]`
 * `POST /embed` beside three others that ask the same upstream: a bare Worker that only forwards; the floor of the design, a
 * Worker that makes two durable calls to a Durable Object and re-encodes the vector as JSON, and nothing else; and
 * @portkey-ai/gateway, which meters nothing. All in the same run, taking turns, each in its own workerd or Node process, without
 * anything in front.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { openDb } from "../src/service/db/client.ts";
import { freePort } from "../src/tooling/local/stack/ports.ts";
import { type RunningService, startService } from "../src/tooling/local/stack/service.ts";
import { createTenant } from "../src/service/tenancy/index.ts";
import type { Load, LoadResult } from "./load/client.ts";
import { median, peer, ratio, temporaryFolder } from "./support.ts";

const INPUT = "export function add(a: number, b: number): number { return a + b }";
const UNLIMITED = 2_000_000_000;
const WARM_UP_MS = 1_500;
const PEER_START_MS = 20_000;
/** The local stack sets V8 flags that save memory; benchmarks use V8's defaults. */
const V8_DEFAULTS = "--no-optimize-for-size";

interface Contender {
  name: string;
  port: number;
  request: Buffer;
  close(): Promise<void>;
}

interface Figures {
  perSecond: number[];
  p50: number[];
  p99: number[];
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "3" },
      connections: { type: "string", default: "16" },
      dimension: { type: "string", default: "1024" },
    },
  });
  const connections = Number(values.connections);
  const durationMs = Number(values.seconds) * 1_000;
  const upstream = new Worker(new URL("./load/upstream.ts", import.meta.url), {
    workerData: { dimension: Number(values.dimension) },
  });
  const client = new Worker(new URL("./load/client.ts", import.meta.url));
  const [upstreamPort] = (await once(upstream, "message")) as [number];
  const contenders: Contender[] = [];
  process.env["MINIFLARE_WORKERD_V8_FLAGS"] ??= V8_DEFAULTS;
  try {
    contenders.push(await bareWorker(upstreamPort), await floorWorker(upstreamPort), await ourGateway(upstreamPort));
    const portkey = await portkeyGateway(upstreamPort);
    if (portkey) contenders.push(portkey);
    console.log(
      `one input of ${INPUT.length} characters, a vector of ${values.dimension}, ${connections} connections, ${values.rounds} rounds of ${values.seconds} s each in turn, Node ${process.versions.node}\n`,
    );
    const figures = new Map<string, Figures>(contenders.map(({ name }) => [name, { perSecond: [], p50: [], p99: [] }]));
    for (const contender of contenders) await drive(client, contender, { connections, durationMs: WARM_UP_MS });
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const contender of contenders) {
        const { latenciesMs, elapsedMs } = await drive(client, contender, { connections, durationMs });
        const sorted = latenciesMs.toSorted((a, b) => a - b);
        const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
        const kept = figures.get(contender.name);
        kept?.perSecond.push(latenciesMs.length / (elapsedMs / 1_000));
        kept?.p50.push(at(0.5));
        kept?.p99.push(at(0.99));
      }
    }
    report(figures);
  } finally {
    for (const contender of contenders) await contender.close();
    await Promise.all([upstream.terminate(), client.terminate()]);
  }
}

async function drive(
  client: Worker,
  { name, port, request }: Contender,
  load: Pick<Load, "connections" | "durationMs">,
): Promise<LoadResult> {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
  client.postMessage({ port, request, ...load } satisfies Load);
  const [result] = (await once(client, "message")) as [LoadResult];
  if (result.failure !== undefined) throw new Error(`${name} failed: ${result.failure}`);
  return result;
}

function report(figures: Map<string, Figures>): void {
  const [bare] = figures.values();
  const of = (all: Figures | undefined, key: keyof Figures) => median(all?.[key] ?? []);
  console.log(
    "| | requests/s | p50 ms | p99 ms | ÷ bare: throughput | p50 | p99 |\n| --- | --- | --- | --- | --- | --- | --- |",
  );
  for (const [name, all] of figures) {
    const [perSecond, p50, p99] = [of(all, "perSecond"), of(all, "p50"), of(all, "p99")];
    const beside = [ratio(perSecond, of(bare, "perSecond")), ratio(p50, of(bare, "p50")), ratio(p99, of(bare, "p99"))];
    console.log(
      `| ${name} | ${perSecond.toFixed(0)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${beside.join(" | ")} |`,
    );
  }
}

function post(path: string, headers: Record<string, string>, body: unknown): Buffer {
  const text = JSON.stringify(body);
  const all = {
    Host: "127.0.0.1",
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(text)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`);
}

/** The upstream request of our `/embed`. */
const UPSTREAM_BODY = { model: "bench", input: [INPUT], encoding_format: "base64" };

function bareWorker(upstreamPort: number): Promise<Contender> {
  const script = `export default { fetch(request) {
    return fetch("http://127.0.0.1:${upstreamPort}/v1/embeddings", { method: "POST", headers: request.headers, body: request.body });
  } };`;
  return startScript("bare Worker", script, UPSTREAM_BODY);
}

/** Makes two calls that each write one row and answer when it is durable, with the gate's group commit. */
function floorWorker(upstreamPort: number): Promise<Contender> {
  const script = `
  import { DurableObject } from "cloudflare:workers";
  export class Floor extends DurableObject {
    queue = []; busy = false;
    constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("create table if not exists counters (id integer primary key, n integer)"); }
    reserve() { return this.write(() => ({ outcome: "admitted", reservationId: crypto.randomUUID(), rate: { limit: 1, remaining: 1, resetSec: 1 } })); }
    settle(id, { tokens }) { return this.write(() => ({ credits: Math.ceil(tokens / 1000) })); }
    write(answer) {
      return new Promise((resolve) => {
        this.queue.push(() => { this.ctx.storage.sql.exec("insert into counters values (1, 1) on conflict do update set n = n + 1"); resolve(answer()); });
        if (!this.busy) this.commit();
      });
    }
    async commit() {
      this.busy = true;
      while (this.queue.length > 0) {
        for (const change of this.queue.splice(0)) change();
        await this.ctx.storage.sync();
        if (this.queue.length > 0) await new Promise((resolve) => setTimeout(resolve, 2));
      }
      this.busy = false;
    }
  }
  export default { async fetch(request, env) {
    const { input } = await request.json();
    const floor = () => env.FLOOR.get(env.FLOOR.idFromName("tenant"));
    const { reservationId } = await floor().reserve({ credits: 1 });
    const body = JSON.stringify({ model: "bench", input, encoding_format: "base64" });
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body };
    const answer = await (await fetch("http://127.0.0.1:${upstreamPort}/v1/embeddings", init)).json();
    const bytes = Uint8Array.from(atob(answer.data[0].embedding), (character) => character.charCodeAt(0));
    const vector = Array.from(new Float32Array(bytes.buffer));
    const usage = await floor().settle(reservationId, { tokens: answer.usage.total_tokens });
    return Response.json({ ok: true, embeddings: [{ index: 0, vector }], usage });
  } };`;
  return startScript("floor: two calls and JSON", script, { input: [INPUT] }, "Floor");
}

async function startScript(name: string, script: string, body: unknown, object?: string): Promise<Contender> {
  const port = await freePort();
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      telemetry: { enabled: false },
      resourcePersistencePath: temporaryFolder("gateway-floor"),
      workers: [
        {
          name: "bare",
          modules: [{ type: "ESModule", path: "bare.js", contents: script }],
          compatibilityDate: "2026-11-01",
          ...(object !== undefined && { durableObjects: { FLOOR: { className: object, useSQLite: true } } }),
          unsafeDirectSockets: [{ host: "127.0.0.1", port }],
        },
      ],
    }),
  );
  await miniflare.ready;
  return { name, port, request: post("/", {}, body), close: () => miniflare.dispose() };
}

async function ourGateway(upstreamPort: number): Promise<Contender> {
  const running: RunningService = await startService({
    dataDir: temporaryFolder("gateway"),
    port: 0,
    sitePort: 0,
    vars: {
      EMBED_PROVIDER: "openai",
      EMBED_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
      EMBED_MODEL: "bench",
      RATE_LIMITS: JSON.stringify({ metered: { limit: UNLIMITED } }),
    },
  });
  const db = openDb(running.service.databaseUrl);
  const { apiKey } = await createTenant(db, { name: "bench", sharedIndex: false, monthlyCredits: UNLIMITED });
  return {
    name: "Code Context /embed",
    port: running.stack.apiWorkerPort,
    request: post("/embed", { Authorization: `Bearer ${apiKey}` }, { input: [INPUT] }),
    close: () => running.stop(),
  };
}

/** The peer changes headers of responses from `fetch`, which current Node forbids (its issue 1389): give it copies. */
const MUTABLE_ANSWERS =
  "data:text/javascript,const f=fetch;globalThis.fetch=async(...a)=>{const r=await f(...a);return new Response(r.body,r)};";

async function portkeyGateway(upstreamPort: number): Promise<Contender | undefined> {
  const script = peer("@portkey-ai/gateway/build/start-server.js");
  if (script === undefined) return undefined;
  const port = await freePort();
  const child: ChildProcess = spawn(
    process.execPath,
    ["--import", MUTABLE_ANSWERS, script, `--port=${port}`, "--headless"],
    {
      stdio: "ignore",
    },
  );
  const headers = {
    Authorization: "Bearer none",
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/v1`,
  };
  const deadline = Date.now() + PEER_START_MS;
  while (
    !(await fetch(`http://127.0.0.1:${port}/`).then(
      (response) => response.ok,
      () => false,
    ))
  ) {
    if (Date.now() > deadline || child.exitCode !== null) throw new Error("@portkey-ai/gateway did not start");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    name: "@portkey-ai/gateway 1.15.2",
    port,
    request: post("/v1/embeddings", headers, UPSTREAM_BODY),
    close: async () => {
      child.kill();
      await once(child, "exit");
    },
  };
}
