/** Time of a query on one large index: all repositories together, short queries and whole issue texts. */
import { existsSync } from "node:fs";
import path from "node:path";
import { search } from "../../src/engines/search/search.ts";
import { type Corpus, filesOfFolder, indexCorpus, type ParsedContents, parseFiles } from "./corpus.ts";
import { quantile } from "./metrics.ts";

/** Chunks of the index, about: repositories are added until it has as many. */
const CHUNKS = 50_000;
/** The first pass compiles the code, and is reported apart. */
const PASSES = 3;

export async function benchSpeed(json: <T>(file: string) => T, repos: string, parsed: ParsedContents): Promise<void> {
  const all: Corpus = { files: [], contents: new Map() };
  const queries: string[] = [];
  let chunks = 0;
  for (const { name } of json<{ name: string }[]>("semble/repos.json")) {
    const folder = path.join(repos, name);
    queries.push(...json<{ query: string }[]>(`semble/${name}.json`).map(({ query }) => query));
    if (chunks >= CHUNKS || !existsSync(folder)) continue;
    const { files, contents } = await parseFiles(filesOfFolder(folder), parsed);
    for (const file of files) all.files.push({ ...file, path: `${name}/${file.path}` });
    for (const [key, content] of contents) all.contents.set(key, content);
    chunks += files.reduce(
      (sum, file) => sum + (contents.get(`${file.sha256} ${file.language}`)?.chunks.length ?? 0),
      0,
    );
  }
  const { index, texts } = await indexCorpus(all);
  console.log(`\n${index.fileCount} files, ${index.documentCount} chunks, CPU time of a query in ms:`);
  console.log("                      p50    p95    max");
  const issues = json<{ query: string }[]>("issues/dev.json").map(({ query }) => query);
  for (const [kind, asked] of [
    ["short", queries],
    ["issue", issues],
  ] as const) {
    for (let pass = 0; pass < PASSES; pass++) {
      const times: number[] = [];
      for (const query of asked) {
        const before = process.cpuUsage();
        await search(index, { query }, texts);
        const { user, system } = process.cpuUsage(before);
        times.push((user + system) / 1_000);
      }
      const figures = [quantile(times, 0.5), quantile(times, 0.95), Math.max(...times)];
      const label = `${kind}, ${pass === 0 ? "first pass" : "warm"}`;
      console.log(`${label.padEnd(18)} ${figures.map((ms) => ms.toFixed(1).padStart(6)).join(" ")}`);
    }
  }
}
