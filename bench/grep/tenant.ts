/**
 * Times of `POST /grep` for a tenant of several repositories: the first answer of an isolate, and warm ones about one repository and about
 * all. For `bench/grep.ts`.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { startGitServer } from "../../src/tooling/local/git/git-server.ts";
import type { RunningService } from "../../src/tooling/local/stack/service.ts";
import { gitIn, startBenchService } from "../hosted/team.ts";
import { indexedWorkspace } from "../hosted/workspace.ts";
import { quantile } from "../retrieval/metrics.ts";
import { median, temporaryFolder } from "../support.ts";

/** Words that are asked for, and starts of the service before which no isolate has read a text. */
const WORDS = 60;
const STARTS = 5;
/** Share of the files that have a word for which filters leave out most of them. */
const RARE = 0.01;
/** On many lines of nearly any repository. */
const COMMON = ["struct", "return", "const", "static", "error"];
const ROUNDS = 5;

/** `folder` holds checkouts, of which the largest is asked by itself too; `data` keeps what is indexed for the next time. */
export async function benchTenant(
  folder: string,
  data: string | undefined,
  random: (n: number) => number,
): Promise<void> {
  const served = path.resolve(folder);
  const names = readdirSync(served).filter((name) => statSync(path.join(served, name)).isDirectory());
  const git = await startGitServer(served);
  const dataDir = path.resolve(data ?? path.join(temporaryFolder("tenant"), "data"));
  let running = await startBenchService(dataDir);
  try {
    const ids = new Map<string, string>();
    for (const name of names)
      ids.set(
        name,
        await indexedWorkspace(running, { name, url: `${git.origin}/${name}` }, ({ textList }) => textList !== null),
      );
    const fileCounts = names.map((name) => ({ name, files: filesOf(served, name).length }));
    const largest = fileCounts.toSorted((a, b) => b.files - a.files)[0]?.name ?? "";
    const one = ids.get(largest);
    const words = wordsOf(served, largest, random);
    const isRare = (word: string): boolean =>
      filesWith(served, largest, word) <= RARE * filesOf(served, largest).length;
    const kinds = [
      ["words in at most 1 % of its files", words.filter(isRare)],
      ["words in more", words.filter((word) => !isRare(word))],
    ] as const;
    for (const [label, workspaceId] of [
      ["largest", one],
      ["all", undefined],
    ] as const) {
      for (const [kind, words] of kinds) {
        const first: number[] = [];
        for (const word of words.slice(0, STARTS)) {
          await running.stop();
          running = await startBenchService(dataDir);
          // The key, the limits and the connection to the database are warm; the isolate has read no text.
          await request(running, "GET", "/usage");
          first.push((await grep(running, word, workspaceId)).ms);
        }
        console.log(`${label}, ${kind}: first of an isolate  ${figures(first)}`);
        const fresh: number[] = [];
        const again: number[] = [];
        const least: number[] = [];
        for (const word of words) {
          fresh.push((await grep(running, word, workspaceId)).ms);
          // What any request takes.
          least.push((await request(running, "GET", "/usage")).ms);
          again.push((await grep(running, word, workspaceId)).ms);
        }
        console.log(
          `${label}, ${kind}: a word that was not asked for  ${figures(fresh)}; again ${figures(again)}; GET /usage ${figures(least)}`,
        );
      }
      const common: number[] = [];
      for (let round = 0; round <= ROUNDS; round++)
        for (const word of COMMON) common.push((await grep(running, word, workspaceId)).ms);
      console.log(`${label}: common words again  ${figures(common.slice(COMMON.length))}`);
    }
  } finally {
    await running.stop();
    await git.close();
  }
}

const figures = (ms: readonly number[]): string =>
  `p50 ${median(ms).toFixed(0)} ms, p95 ${quantile(ms, 0.95).toFixed(0)} ms`;

const filesOf = (served: string, name: string): string[] => gitIn(path.join(served, name), "ls-files").split("\n");

function filesWith(served: string, name: string, word: string): number {
  return gitIn(path.join(served, name), "grep", "--files-with-matches", "--fixed-strings", "-e", word).split("\n")
    .length;
}

/** Identifiers of random lines. */
function wordsOf(served: string, name: string, random: (n: number) => number): string[] {
  const files = filesOf(served, name).filter((file) => /\.(?:c|h|go|js|ts|py|rs|java)$/.test(file));
  const words = new Set<string>();
  while (words.size < WORDS) {
    const lines = readFileSync(path.join(served, name, files[random(files.length)] ?? ""), "utf8").split("\n");
    const found = lines[random(lines.length)]?.match(/[A-Za-z_]\w{4,}/g) ?? [];
    const word = found[random(Math.max(1, found.length))];
    if (word !== undefined) words.add(word);
  }
  return [...words];
}

const grep = (running: RunningService, pattern: string, workspaceId: string | undefined) =>
  request(running, "POST", "/grep", { pattern, fixedStrings: true, ...(workspaceId !== undefined && { workspaceId }) });

async function request(
  { stack, service }: RunningService,
  method: string,
  route: string,
  body?: unknown,
): Promise<{ ms: number; text: string }> {
  const startedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${stack.apiWorkerPort}${route}`, {
    method,
    headers: { Authorization: `Bearer ${service.apiKey}`, "Content-Type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${route}: ${response.status} ${text.slice(0, 300)}`);
  return { ms: performance.now() - startedAt, text };
}
