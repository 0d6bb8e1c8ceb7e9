/**
 * `npm run bench -- cli [--repo <bare repository>] [--latency MS] [--runs N]`
 * The packed `codectx` beside its peers on the same work tree, with the same mock embedder (its latency is that of each
 * request): cold index, no-op, pull on an empty machine, and a symbol look-up among 50,000 chunks. Whole processes are timed,
 * except for the peers, whose start-up and module loading are left out in their favour.
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { corpus, median, peer, ratio, ROOT, run as exec, temporaryFolder, timed } from "./support.ts";

const DIMENSION = 256;
const LOOKUP_CHUNKS = 50_000;
const CLI = path.join(ROOT, "dist/cli/codectx.js");
/** Longer than the time within which a file's timestamps are unreliable. */
const SETTLE_MS = 2_500;

interface Embedder {
  url: string;
  key: string;
  openai: string;
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      repo: { type: "string" },
      latency: { type: "string", default: "0" },
      runs: { type: "string", default: "5" },
    },
  });
  const runs = Number(values.runs);
  await exec(process.execPath, [path.join(ROOT, "node_modules/tsdown/dist/run.mjs")], { cwd: ROOT });
  const given = corpus(values.repo);
  const scratch = temporaryFolder("cli");
  const tree = path.join(scratch, "tree");
  execFileSync("git", ["clone", "-q", given.bare, tree]);
  execFileSync("git", ["-C", tree, "remote", "set-url", "origin", "https://github.com/bench/corpus.git"]);
  const files =
    execFileSync("git", ["-C", tree, "ls-files"], { encoding: "utf8", maxBuffer: 1 << 28 }).split("\n").length - 1;
  console.log(
    `work tree: ${files} files; embedder: ${DIMENSION} dimensions, ${values.latency} ms a request; Node ${process.versions.node}\n`,
  );
  await sleep(SETTLE_MS);
  const child = spawn(
    process.execPath,
    [path.join(ROOT, "bench/cli-peers/embedder.ts"), String(DIMENSION), values.latency],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    const embedder = JSON.parse(await firstLine(child.stdout)) as Embedder;
    const cold = await benchIndex(scratch, tree, embedder, runs);
    await benchPeers(scratch, tree, embedder, cold);
    await benchPull(scratch, tree, embedder, cold, runs);
    await benchSymbol(scratch, embedder, runs);
  } finally {
    child.kill();
  }
}

async function firstLine(stream: AsyncIterable<Buffer>): Promise<string> {
  for await (const part of stream) return part.toString();
  throw new Error("the embedder did not start");
}

/** Runs the packed CLI with its own cache. */
async function codectx(
  cwd: string,
  cache: string,
  embedder: Embedder,
  ...args: string[]
): Promise<Record<string, unknown>> {
  const env = {
    ...process.env,
    XDG_CACHE_HOME: cache,
    XDG_CONFIG_HOME: path.join(cache, "config"),
    CODECTX_API_URL: embedder.url,
    CODECTX_API_KEY: embedder.key,
  };
  const { stdout } = await exec(process.execPath, [CLI, ...args, "--json"], { cwd, env, maxBuffer: 1 << 28 });
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function benchIndex(scratch: string, tree: string, embedder: Embedder, runs: number): Promise<number> {
  const cache = path.join(scratch, "cache");
  const cold = await timed(() => codectx(tree, cache, embedder, "index", "--local"));
  const noop: number[] = [];
  for (let i = 0; i < runs; i++) noop.push((await timed(() => codectx(tree, cache, embedder, "index", "--local"))).ms);
  const { fileCount, chunkCount, symbolCount, embeddedCount } = cold.value;
  console.log(
    `codectx         cold ${seconds(cold.ms)}: ${String(fileCount)} files, ${String(symbolCount)} symbols, ${String(chunkCount)} chunks, ${String(embeddedCount)} embedded`,
  );
  console.log(
    `codectx         no-op ${Math.round(median(noop))} ms, ${percent(median(noop), cold.ms)} of cold (goal ≤ 3 %)`,
  );
  return cold.ms;
}

async function benchPeers(scratch: string, tree: string, embedder: Embedder, coldMs: number): Promise<void> {
  const opencode = peer("opencode-codebase-index/dist/index.js");
  if (opencode !== undefined) {
    const copy = path.join(scratch, "opencode");
    cpSync(tree, copy, { recursive: true });
    mkdirSync(path.join(copy, ".opencode"));
    const config = {
      embeddingProvider: "custom",
      customProvider: {
        baseUrl: embedder.openai,
        model: "mock",
        dimensions: DIMENSION,
        apiKey: "none",
        maxBatchSize: 128,
      },
      indexing: { watchFiles: false, autoIndex: false },
    };
    writeFileSync(path.join(copy, ".opencode/codebase-index.json"), JSON.stringify(config));
    const cold = await peerRun(scratch, "opencode.ts", opencode, copy);
    const noop = await peerRun(scratch, "opencode.ts", opencode, copy);
    console.log(
      `opencode 0.8.1  cold ${seconds(cold["ms"] as number)}, ${ratio(cold["ms"] as number, coldMs)}× ours (goal ≥ 2); no-op ${Math.round(noop["ms"] as number)} ms: ${String(cold["answer"]).replace(/\s+/g, " ").slice(0, 160)}`,
    );
    rmSync(copy, { recursive: true });
  }
  const core = peer("@zilliz/claude-context-core/dist/index.js");
  if (core === undefined) return;
  const {
    coldMs: cold,
    noopMs,
    answer,
  } = await peerRun(scratch, "claude-context.ts", core, tree, embedder.openai, String(DIMENSION));
  console.log(
    `claude-context-core 0.1.15  cold ${seconds(cold as number)}, ${ratio(cold as number, coldMs)}× ours; no-op ${Math.round(noopMs as number)} ms: ${JSON.stringify(answer)}`,
  );
}

async function peerRun(scratch: string, script: string, ...args: string[]): Promise<Record<string, unknown>> {
  const env = { ...process.env, HOME: path.join(scratch, "peer-home") };
  const file = path.join(ROOT, "bench/cli-peers", script);
  const { stdout } = await exec(process.execPath, [file, ...args], { env, maxBuffer: 1 << 28, timeout: 900_000 });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}") as Record<string, unknown>;
}

async function benchPull(
  scratch: string,
  tree: string,
  embedder: Embedder,
  coldMs: number,
  runs: number,
): Promise<void> {
  const published = await timed(() => codectx(tree, path.join(scratch, "cache"), embedder, "publish"));
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const cache = path.join(scratch, `pulled-${i}`);
    times.push((await timed(() => codectx(tree, cache, embedder, "pull"))).ms);
    rmSync(cache, { recursive: true });
  }
  const { sizeBytes } = published.value;
  console.log(`publish         ${seconds(published.ms)}, ${(Number(sizeBytes) / 1e6).toFixed(1)} MB`);
  console.log(
    `pull            until usable ${Math.round(median(times))} ms, ${percent(median(times), coldMs)} of cold (goal ≤ 5 %)`,
  );
}

/** Enough functions for 50,000 chunks; each is about as long as a chunk. */
async function benchSymbol(scratch: string, embedder: Embedder, runs: number): Promise<void> {
  const tree = path.join(scratch, "large");
  const perFile = 25;
  for (let file = 0; file * perFile < LOOKUP_CHUNKS; file++) {
    const functions = Array.from({ length: perFile }, (_, i) => {
      const lines = Array.from(
        { length: 30 },
        (_, line) => `  total += weigh(${file}, ${i}, ${line}, "${"x".repeat(26)}");`,
      );
      return `export function lookup_${file}_${i}(total: number): number {\n${lines.join("\n")}\n  return total;\n}\n`;
    });
    mkdirSync(path.join(tree, `part${file % 100}`), { recursive: true });
    writeFileSync(path.join(tree, `part${file % 100}`, `file${file}.ts`), functions.join("\n"));
  }
  const cache = path.join(scratch, "large-cache");
  const { chunkCount } = await codectx(tree, cache, embedder, "index", "--local", "--no-embed");
  const times: number[] = [];
  for (let i = 0; i < runs * 2; i++) {
    times.push((await timed(() => codectx(tree, cache, embedder, "symbol", `lookup_${i * 97}_${i}`))).ms);
  }
  console.log(
    `symbol          ${Math.round(median(times))} ms from process start among ${String(chunkCount)} chunks (goal ≤ 200 ms)`,
  );
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
const percent = (a: number, b: number): string => `${((a / b) * 100).toFixed(1)} %`;
