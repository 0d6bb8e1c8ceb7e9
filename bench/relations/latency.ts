/**
 * How long `callers` and `impact` take on one checkout: in this process, over an index that is open, and of a service, as a client sees it.
 * Each question is asked twice; the second time counts, since a service's first answers read the index from its store.
 */
import path from "node:path";
import { REFERENCES } from "../../src/contract/questions.ts";
import type { DefinedSymbol } from "../../src/engines/relations/question-files.ts";
import type { UsesIndex } from "../../src/engines/relations/uses-index.ts";
import { findSymbols } from "../../src/engines/search/lookups.ts";
import type { SearchIndex } from "../../src/engines/search/search-index.ts";
import { impact, references } from "../../src/interface/questions/questions.ts";
import type { OpenIndexes } from "../../src/interface/questions/code-index.ts";
import { startGitServer } from "../../src/tooling/local/git/git-server.ts";
import { indexRef, newTeam, spread, startBenchService } from "../hosted/team.ts";
import { median, temporaryFolder, timed } from "../support.ts";

const QUESTIONS = 200;
const CHANGES = 20;
const FILES = 10;
const SOURCES = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|c|cc|cpp|rb|php|cs)$/;
const IMPACT = { depth: 2, limit: 20, maxTokens: 4_000 };

export interface Opened {
  root: string;
  index: SearchIndex;
  open: () => UsesIndex;
}

/** Prints medians and 95th percentiles. */
export async function latency(checkout: Opened): Promise<void> {
  const { index, root } = checkout;
  const asked = await definitionsOf(checkout);
  const changes = changesOf(checkout);
  console.log(
    `${path.basename(root)}: ${index.documentCount} chunks, ${index.fileCount} files, ${asked.length} definitions`,
  );
  const here = () => localOf(checkout);
  const own = [];
  for (const { name, path: at, startLine: line } of asked) {
    const request = { name, path: at, line, relation: "callers", limit: REFERENCES.limit.default } as const;
    own.push(await second(() => references.answer(here(), request)));
  }
  show("callers, in this process", own);
  const changed = [];
  for (const paths of changes) changed.push(await second(() => impact.answer(here(), { paths, ...IMPACT })));
  show(`impact of ${FILES} files, in this process`, changed);
  await hosted(root, asked, changes);
}

async function hosted(root: string, asked: readonly DefinedSymbol[], changes: readonly string[][]): Promise<void> {
  const git = await startGitServer(path.dirname(root));
  const running = await startBenchService(path.join(temporaryFolder("relations"), "data"));
  try {
    const team = await newTeam(running.service);
    const { client, workspaceId } = team;
    await indexRef(team, `${git.origin}/${path.basename(root)}`);
    const own = [];
    for (const { name, path: at, startLine: line } of asked)
      own.push(await second(() => client.references({ workspaceId, name, path: at, line, relation: "callers" })));
    show("callers, of a service", own);
    const changed = [];
    for (const paths of changes) changed.push(await second(() => client.impact({ workspaceId, paths })));
    show(`impact of ${FILES} files, of a service`, changed);
  } finally {
    await running.stop();
    await git.close();
  }
}

async function second(ask: () => Promise<unknown>): Promise<number> {
  await ask();
  return (await timed(ask)).ms;
}

function show(name: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const most = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
  console.log(`${name.padEnd(40)} p50 ${median(times).toFixed(1)} ms, p95 ${most.toFixed(1)} ms (${times.length})`);
}

/** Functions and methods of files that are spread over the checkout. */
async function definitionsOf({ open }: Opened): Promise<DefinedSymbol[]> {
  const files = open();
  const found: DefinedSymbol[] = [];
  for (const own of spread(sourcesOf(files), QUESTIONS * 2)) {
    const symbols = await files.definitionsIn(own);
    const callable = symbols.filter(({ kind }) => kind === "function" || kind === "method");
    const middle = callable[Math.floor(callable.length / 2)];
    if (middle) found.push(middle);
  }
  return spread(found, QUESTIONS);
}

/** Files that are spread over the checkout, each with those after it. */
function changesOf({ open }: Opened): string[][] {
  const sources = sourcesOf(open());
  return spread([...sources.keys()], CHANGES).map((at) => sources.slice(Math.max(0, at - FILES + 1), at + 1));
}

const sourcesOf = (files: UsesIndex): string[] => files.paths.filter((own) => SOURCES.test(own) && !files.isTest(own));

/** As much of an open index as the questions ask; there are no texts, as lines are not shown. */
function localOf({ index, open }: Opened): OpenIndexes {
  const files = open();
  const own: Partial<OpenIndexes> = {
    indexes: [{ name: "", gitSha: null, indexedAtMs: 0, isWorkTree: false }],
    symbols: (request) => findSymbols(index, request, () => []),
    withUses: (_, work) => work(files, files),
    file: () => Promise.resolve(undefined),
  };
  return own as OpenIndexes;
}
