/** Writes the pairs of repositories as records of term hashes, which `train.py` reads. */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { detectLanguage } from "../../src/engines/parsing/detect.ts";
import { scanTerms } from "../../src/engines/search/scanner.ts";
import { filesOfCommit, ParsedContents, type RawFile } from "../retrieval/corpus.ts";
import { type Pair, PAIR_KINDS, pairOfCommit, pairsOfSource } from "./pairs.ts";

/** Pairs of a kind and repository at most. */
const MAX_PAIRS = { doc: 9_000, name: 4_000, comment: 5_000, commit: 5_000 } as const;
const MAX_SOURCE_BYTES = 15_000_000;
const MAX_FILE_BYTES = 100_000;
const MAX_COMMITS = 3_000;
const MAX_FILES_OF_COMMIT = 8;
const MAX_HUNK_LINES = 60;
const MAX_QUERY_TERMS = 40;
const MAX_CODE_TERMS = 250;
const MIN_QUERY_TERMS = 2;
const MIN_CODE_TERMS = 5;
const ASIDE = /(?:^|\/)(?:vendor|third_party|node_modules|dist|deps|external|fixtures?|testdata|snapshots?|locales?)\//;
const NO_SOURCES: ReadonlySet<string> = new Set([
  "markdown",
  "json",
  "yaml",
  "toml",
  "html",
  "css",
  "xml",
  "text",
  "rst",
]);

/**
 * A record is: repository (u16), kind (u8), number of the words' terms (u8) and of the code's (u16), two bytes of zeros, then the hashes
 * (i32), all little-endian. `known` are definitions that benchmarks ask for; what contains one of their first lines is left out.
 */
export async function minePairs(
  repositories: readonly { name: string; folder: string }[],
  out: string,
  known: ReadonlySet<string>,
): Promise<void> {
  const file = openSync(out, "w");
  for (const [number, { name, folder }] of repositories.entries()) {
    const counts = new Map<string, number>();
    const seen = new Set<string>();
    const records: Buffer[] = [];
    const add = (pair: Pair): void => {
      const count = counts.get(pair.kind) ?? 0;
      if (count >= MAX_PAIRS[pair.kind]) return;
      const [query, code] = [termsOf(pair.words, MAX_QUERY_TERMS), termsOf(pair.code, MAX_CODE_TERMS)];
      const key = query.join();
      // Texts that are repeated are boilerplate.
      if (query.length < MIN_QUERY_TERMS || code.length < MIN_CODE_TERMS || seen.has(key)) return;
      if (pair.code.split("\n").some((line) => known.has(signatureOf(line)))) return;
      seen.add(key);
      counts.set(pair.kind, count + 1);
      records.push(recordOf(number, pair.kind, query, code));
    };
    const parsed = new ParsedContents();
    for (const { path, bytes } of sampleOf(filesOfCommit(folder, "HEAD"))) {
      const language = detectLanguage(path, bytes);
      if (!language || NO_SOURCES.has(language)) continue;
      const content = await parsed.get(bytes, language);
      if (!content) continue;
      for (const pair of pairsOfSource(bytes.toString("utf8").split("\n"), language, content.symbols)) add(pair);
    }
    for await (const pair of commitPairs(folder)) add(pair);
    writeSync(file, Buffer.concat(records));
    const revision = execFileSync("git", ["-C", folder, "rev-parse", "HEAD"]).toString().trim();
    console.log(`${name} ${revision} ${PAIR_KINDS.map((kind) => `${kind} ${counts.get(kind) ?? 0}`).join(", ")}`);
  }
  closeSync(file);
}

/** A definition's first line without spaces. */
export function signatureOf(line: string): string {
  return line.replaceAll(/\s/g, "");
}

/** Always the same files: in the order of a hash of their paths, up to `MAX_SOURCE_BYTES`. */
function sampleOf(files: Iterable<RawFile>): RawFile[] {
  const wanted = [...files].filter(({ path, bytes }) => !ASIDE.test(path) && bytes.length <= MAX_FILE_BYTES);
  const order = wanted.map((file) => ({ file, key: termsOf(file.path, 12).reduce((a, b) => Math.imul(a, 31) + b, 7) }));
  order.sort((a, b) => a.key - b.key || (a.file.path < b.file.path ? -1 : 1));
  let total = 0;
  return order.flatMap(({ file }) => ((total += file.bytes.length) <= MAX_SOURCE_BYTES ? [file] : []));
}

async function* commitPairs(folder: string): AsyncGenerator<Pair> {
  const args = ["log", "--no-merges", "-n", String(MAX_COMMITS), "-p", "-U4", "--no-color", "--no-renames"];
  const child = spawn("git", ["-C", folder, ...args, "--no-ext-diff", "--format=%x01%s", "HEAD"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let subject = "";
  let files: { path: string; lines: string[] }[] = [];
  let isHead = true;
  const pairs = function* (): Generator<Pair> {
    const own = files.filter(
      ({ path, lines }) => lines.length > 0 && !/test|spec|\.(?:md|json|lock|txt|ya?ml)$/i.test(path),
    );
    if (files.length > MAX_FILES_OF_COMMIT) return;
    const [largest] = own.toSorted((a, b) => b.lines.length - a.lines.length);
    const pair = largest && pairOfCommit(subject, largest.lines.join("\n"));
    if (pair) yield pair;
  };
  for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
    if (line.startsWith("\u0001")) {
      yield* pairs();
      [subject, files, isHead] = [line.slice(1), [], true];
    } else if (line.startsWith("diff --git ")) {
      files.push({ path: / b\/(.+)$/.exec(line)?.[1] ?? "", lines: [] });
      isHead = true;
    } else if (line.startsWith("@@")) isHead = false;
    else if (!isHead && !line.startsWith("-") && line.length < 300) {
      const own = files.at(-1);
      if (own && own.lines.length < MAX_HUNK_LINES) own.lines.push(line.slice(1));
    }
  }
  yield* pairs();
}

function termsOf(text: string, max: number): number[] {
  const terms: number[] = [];
  scanTerms(text, {
    word: (hash) => {
      if (terms.length < max) terms.push(hash);
    },
    whole: () => undefined,
  });
  return terms;
}

function recordOf(repository: number, kind: Pair["kind"], query: readonly number[], code: readonly number[]): Buffer {
  const record = Buffer.alloc(8 + 4 * (query.length + code.length));
  record.writeUInt16LE(repository, 0);
  record.writeUInt8(PAIR_KINDS.indexOf(kind), 2);
  record.writeUInt8(query.length, 3);
  record.writeUInt16LE(code.length, 4);
  let at = 8;
  for (const hash of [...query, ...code]) at = record.writeInt32LE(hash, at);
  return record;
}
