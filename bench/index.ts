/**
 * `npm run bench -- index [--repo <bare repository>] [--runs N] [--parse]`
 * Pull against native `git clone`, parse and chunk against claude-context-core's splitter, and cold, no-op and one-file runs of
 * the whole service, all on the same repository in the same run. With `--parse` only the second of these.
 */
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { createSelector } from "../src/service/indexing/select.ts";
import { connect, type TreeStore, walkTree } from "../src/engines/git/index.ts";
import { startGitServer } from "../src/tooling/local/git/git-server.ts";
import { freePort } from "../src/tooling/local/stack/ports.ts";
import { startService } from "../src/tooling/local/stack/service.ts";
import { INDEXER_NAME } from "../src/tooling/local/stack/workers.ts";
import { nodeGrammars } from "../src/engines/parsing/grammars-node.ts";
import type { LanguageId } from "../src/engines/parsing/languages.ts";
import { createParser, type ParseStage } from "../src/engines/parsing/parser.ts";
import { readUses } from "../src/engines/relations/read-uses.ts";
import { contentSkipReason } from "../src/engines/parsing/skip.ts";
import { createWorkspace } from "../src/service/tenancy/index.ts";
import { openDb } from "../src/service/db/client.ts";
import { countingProxy } from "./counting-proxy.ts";
import { watchIsolate } from "./isolate-memory.ts";
import { corpus, median, mib, peer, ratio, run as exec, temporaryFolder, timed, watchMemory } from "./support.ts";

const MAX_FILE_BYTES = 524_288;
/** Repetitions of quick measurements; the median is reported. */
const REPEATS = 3;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { repo: { type: "string" }, runs: { type: "string", default: "3" }, parse: { type: "boolean" } },
  });
  const given = corpus(values.repo);
  const root = temporaryFolder("served");
  cpSync(given.bare, path.join(root, "repo"), { recursive: true });
  const bare = path.join(root, "repo");
  const git = (...rest: string[]) =>
    execFileSync("git", ["-C", bare, ...rest], { maxBuffer: 1 << 30 })
      .toString()
      .trim();
  git("config", "uploadpack.allowFilter", "true");
  git("config", "uploadpack.allowAnySHA1InWant", "true");
  git("config", "core.bare", "true");
  const files = git("ls-tree", "-r", "--name-only", "HEAD").split("\n").length;
  console.log(
    `repository: ${files} files at ${git("rev-parse", "--short", "HEAD")}, ${process.platform} ${process.arch}, Node ${process.versions.node}\n`,
  );
  if (values.parse === true) return benchParse(git);
  const server = await startGitServer(root);
  const proxy = await countingProxy(server.origin);
  const url = `${proxy.origin}/repo`;
  try {
    await benchPull(url, Number(values.runs));
    await benchParse(git);
    await benchService(url, git, proxy);
  } finally {
    await proxy.close();
    await server.close();
  }
}

async function benchPull(url: string, runs: number): Promise<void> {
  const ours: number[] = [];
  const native: number[] = [];
  const scratch = temporaryFolder("clone");
  for (let i = 0; i < runs; i++) {
    ours.push((await timed(() => pullAll(url))).ms);
    const target = path.join(scratch, "clone");
    native.push((await timed(() => exec("git", ["clone", "-q", "--depth", "1", "--no-checkout", url, target]))).ms);
    rmSync(target, { recursive: true });
  }
  console.log(
    `pull            ours ${Math.round(median(ours))} ms, git clone --depth 1 --no-checkout ${Math.round(median(native))} ms, ratio ${ratio(median(ours), median(native))} (goal ≤ 1.3)`,
  );
}

async function pullAll(url: string): Promise<number> {
  const session = await connect({ url }, { fetch, hosts: { allowLocal: true } });
  const { oid } = await session.resolve();
  let blobs = 0;
  await session.pull({
    commit: oid,
    maxBlobBytes: MAX_FILE_BYTES,
    plan: (trees, root) => new Set(entriesOf(trees, root)),
    onBlob: () => void blobs++,
    borrowBlobs: true,
  });
  return blobs;
}

function* entriesOf(trees: TreeStore, root: string): Generator<string> {
  for (const entry of walkTree(trees, root)) if ((entry.mode & 0o170000) === 0o100000) yield entry.oid;
}

interface Source {
  path: string;
  language: LanguageId;
  bytes: Uint8Array;
}

function sourcesOf(git: (...args: string[]) => string): Source[] {
  const select = createSelector({});
  const dir = git("rev-parse", "--absolute-git-dir");
  const listed = git("ls-tree", "-r", "HEAD")
    .split("\n")
    // A submodule is a commit, which this repository does not have.
    .filter((line) => line.split(" ")[1] === "blob")
    .map((line) => ({ oid: line.split(/\s+/)[2] ?? "", path: line.slice(line.indexOf("\t") + 1) }));
  const wanted = listed.flatMap((file) => {
    const verdict = select(file.path);
    return verdict.take ? [{ ...file, language: verdict.language }] : [];
  });
  const out = execFileSync("git", ["-C", dir, "cat-file", "--batch"], {
    input: wanted.map((file) => `${file.oid}\n`).join(""),
    maxBuffer: 1 << 30,
  });
  let at = 0;
  const sources: Source[] = [];
  for (const { path: name, language } of wanted) {
    const end = out.indexOf(10, at);
    const [, type, size] = out.subarray(at, end).toString().split(" ");
    const bytes = new Uint8Array(out.subarray(end + 1, end + 1 + Number(size)));
    at = end + 1 + Number(size) + 1;
    if (type === "blob" && bytes.byteLength <= MAX_FILE_BYTES && contentSkipReason(bytes) === undefined)
      sources.push({ path: name, language: language ?? "text", bytes });
  }
  return sources;
}

const STAGES: readonly ParseStage[] = ["decode", "syntax", "symbols", "uses", "recovery", "secrets", "chunks"];
/** Languages with a row of their own in the table of times. */
const LANGUAGE_ROWS = 8;

/** Where the time of a parse goes, by language and stage. */
class StageTimes {
  private readonly rows = new Map<string, { files: number; bytes: number; ms: Map<ParseStage, number> }>();
  private row = { files: 0, bytes: 0, ms: new Map<ParseStage, number>() };
  private last = performance.now();

  begin(language: string, bytes: number): void {
    this.row = this.rows.get(language) ?? { files: 0, bytes: 0, ms: new Map() };
    this.rows.set(language, this.row);
    this.row.files++;
    this.row.bytes += bytes;
    this.last = performance.now();
  }

  end(stage: ParseStage): void {
    const now = performance.now();
    this.row.ms.set(stage, (this.row.ms.get(stage) ?? 0) + now - this.last);
    this.last = now;
  }

  /** Prints milliseconds of each stage, in all and for the languages that take the most. */
  print(): void {
    const sum = (ms: Map<ParseStage, number>) => [...ms.values()].reduce((total, more) => total + more, 0);
    const rows = [...this.rows].sort(([, a], [, b]) => sum(b.ms) - sum(a.ms));
    const all = { files: 0, bytes: 0, ms: new Map<ParseStage, number>() };
    for (const [, { files, bytes, ms }] of rows) {
      all.files += files;
      all.bytes += bytes;
      for (const [stage, more] of ms) all.ms.set(stage, (all.ms.get(stage) ?? 0) + more);
    }
    console.log(`${"ms".padEnd(16)}${["files", "MB", "all", ...STAGES].map((name) => name.padStart(9)).join("")}`);
    for (const [language, { files, bytes, ms }] of [["all", all] as const, ...rows.slice(0, LANGUAGE_ROWS)]) {
      const times = [sum(ms), ...STAGES.map((stage) => ms.get(stage) ?? 0)].map((time) => String(Math.round(time)));
      const cells = [String(files), (bytes / 1e6).toFixed(1), ...times].map((cell) => cell.padStart(9));
      console.log(`${language.padEnd(16)}${cells.join("")}`);
    }
  }
}

/** As {@link timed}, with the processor time of all threads, which other programs on the machine change less. */
async function withCpu(work: () => Promise<void>): Promise<{ ms: number; cpuMs: number }> {
  const before = process.cpuUsage();
  const { ms } = await timed(work);
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuMs: (user + system) / 1_000 };
}

interface PeerSplitter {
  split(code: string, language: string, path?: string): Promise<{ content: string }[]>;
}

async function benchParse(git: (...args: string[]) => string): Promise<void> {
  const sources = sourcesOf(git);
  const stages = new StageTimes();
  const parser = await createParser(nodeGrammars(), { readUses, onStage: (stage) => stages.end(stage) });
  const warm = sources.slice(0, 200);
  for (const { bytes, language } of warm) await parser.parse({ bytes, language });
  const outcomes: Record<string, number> = {};
  const ours = await withCpu(async () => {
    for (const { bytes, language } of sources) {
      stages.begin(language, bytes.byteLength);
      const { outcome } = await parser.parse({ bytes, language });
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  });
  const bytes = sources.reduce((sum, source) => sum + source.bytes.byteLength, 0);
  const rate = bytes / 1e6 / (ours.ms / 1_000);
  console.log(
    `parse + chunk   ours ${rate.toFixed(1)} MB/s over ${sources.length} files, ${(bytes / 1e6).toFixed(1)} MB; outcomes ${JSON.stringify(outcomes)}`,
  );
  stages.print();
  const file = peer("@zilliz/claude-context-core/dist/splitter/ast-splitter.js");
  if (file === undefined) return;
  const { AstCodeSplitter } = (await import(file)) as {
    AstCodeSplitter: new (size: number, overlap: number) => PeerSplitter;
  };
  const { log, warn } = console;
  let unparsed = 0;
  console.log = () => {};
  console.warn = () => void unparsed++;
  const splitter = new AstCodeSplitter(2_500, 300);
  const texts = sources.map(({ path: name, language, bytes: raw }) => ({
    path: name,
    language,
    text: Buffer.from(raw).toString(),
  }));
  for (const { text, language, path: name } of texts.slice(0, 200))
    await splitter.split(text, language === "tsx" ? "typescript" : language, name);
  unparsed = 0;
  const theirs = await withCpu(async () => {
    for (const { text, language, path: name } of texts)
      await splitter.split(text, language === "tsx" ? "typescript" : language, name);
  });
  console.log = log;
  console.warn = warn;
  const peerRate = bytes / 1e6 / (theirs.ms / 1_000);
  console.log(
    `                claude-context-core 0.1.15 ${peerRate.toFixed(1)} MB/s (${unparsed} files it warned about), ratio ${ratio(rate, peerRate)} (goal ≥ 1); by processor time ${ratio(theirs.cpuMs, ours.cpuMs)}`,
  );
}

async function benchService(
  url: string,
  git: (...args: string[]) => string,
  proxy: { received(): number },
): Promise<void> {
  const inspectorPort = await freePort();
  const running = await startService({
    dataDir: temporaryFolder("data"),
    port: 0,
    sitePort: 0,
    inspectorPort,
    vars: { GIT_ALLOW_LOCAL: "true", RATE_LIMITS: '{"index":{"limit":1000}}' },
  });
  const { service } = running;
  try {
    const db = openDb(service.databaseUrl);
    const index = async (workspaceId: string) => {
      const response = await fetch(`${service.apiUrl}/index`, {
        method: "POST",
        headers: { Authorization: `Bearer ${service.workerToken}`, "Content-Type": "application/json" },
        body: JSON.stringify({ workspaceId, source: { type: "git", url } }),
      });
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()) as Record<string, number>;
    };
    const memory = watchMemory();
    const isolate = await watchIsolate(inspectorPort, INDEXER_NAME);
    const { workspaceId } = await createWorkspace(db, { tenantId: service.tenantId });
    const cold = await timed(() => index(workspaceId));
    const cost = (ms: number) => `${Math.round(ms)} ms, ${((100 * ms) / cold.ms).toFixed(1)} % of cold`;
    console.log(
      `\ncold index      ${Math.round(cold.ms)} ms: ${cold.value["fileCount"]} files, ${cold.value["chunkCount"]} chunks, ${cold.value["symbolCount"]} symbols`,
    );
    const noops: number[] = [];
    for (let i = 0; i < REPEATS; i++) noops.push((await timed(() => index(workspaceId))).ms);
    console.log(`no-op           ${cost(median(noops))} (goal ≤ 3 %)`);

    const native = await nativeClone(url);
    const changes: number[] = [];
    const wire = { ours: 0, native: 0 };
    for (let i = 0; i < REPEATS; i++) {
      changeOneFile(git, i);
      const before = proxy.received();
      changes.push((await timed(() => index(workspaceId))).ms);
      const between = proxy.received();
      await native.update();
      wire.ours += between - before;
      wire.native += proxy.received() - between;
    }
    console.log(`one-file change ${cost(median(changes))} (goal ≤ 8 %)`);
    console.log(
      `bytes received  ours ${wire.ours}, native fetch --filter=blob:none + checkout ${wire.native}, ratio ${ratio(wire.ours, wire.native)} (goal < 2)`,
    );
    console.log(
      `indexer memory  ${mib(isolate.startBytes)} before, growth ${mib(isolate.peakBytes() - isolate.startBytes)} at its peak (heap and array buffers of its isolate, without WebAssembly memory; goal < 128 MB)`,
    );
    console.log(
      `workerd memory  ${mib(memory.start)} before, growth ${mib(memory.peak() - memory.start)} at its peak (the process: all Workers, and the simulators of R2, queues and objects)`,
    );
    isolate.stop();
    memory.stop();
  } finally {
    await running.stop();
  }
}

/** A partial clone of the state before the change, updated like an efficient client would. */
async function nativeClone(url: string): Promise<{ update(): Promise<void> }> {
  const folder = path.join(temporaryFolder("native"), "clone");
  // Asynchronous, because the server runs in this process.
  await exec("git", ["clone", "-q", "--depth", "1", "--filter=blob:none", url, folder]);
  return {
    update: async () => {
      await exec("git", ["-C", folder, "fetch", "-q", "--depth", "1", "--filter=blob:none"]);
      await exec("git", ["-C", folder, "checkout", "-q", "FETCH_HEAD"]);
    },
  };
}

/** Commits a change of one source file to the bare repository. */
function changeOneFile(git: (...args: string[]) => string, round: number): void {
  const dir = git("rev-parse", "--absolute-git-dir");
  const select = createSelector({});
  const paths = git("ls-tree", "-r", "--name-only", "HEAD")
    .split("\n")
    .filter((name) => /\.(ts|js|py|c)$/.test(name) && select(name).take);
  const target = paths[(paths.length >> 1) + round] ?? "";
  const before = execFileSync("git", ["-C", dir, "show", `HEAD:${target}`], { maxBuffer: 1 << 30 });
  const scratch = path.join(temporaryFolder("change"), "file");
  writeFileSync(scratch, Buffer.concat([before, Buffer.from("\n// one more line\n")]));
  const index = `${scratch}.index`;
  const withIndex = (...rest: string[]) =>
    execFileSync("git", ["-C", dir, "-c", "user.name=bench", "-c", "user.email=bench@example.com", ...rest], {
      env: { ...process.env, GIT_INDEX_FILE: index },
      maxBuffer: 1 << 30,
    })
      .toString()
      .trim();
  withIndex("read-tree", "HEAD");
  const blob = withIndex("hash-object", "-w", scratch);
  withIndex("update-index", "--cacheinfo", `100644,${blob},${target}`);
  const commit = withIndex("commit-tree", "-p", "HEAD", "-m", "one change", withIndex("write-tree"));
  const head = readFileSync(path.join(dir, "HEAD"), "utf8").trim();
  withIndex("update-ref", head.startsWith("ref: ") ? head.slice(5) : "HEAD", commit);
}
