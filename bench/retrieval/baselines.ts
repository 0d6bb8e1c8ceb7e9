/** What the engine is compared with in the same run: plain BM25 over chunks, and ripgrep. */
import { spawnSync } from "node:child_process";
import { scanTerms } from "../../src/engines/search/scanner.ts";
import type { Corpus, ParsedContent } from "./corpus.ts";
import type { Ranked } from "./metrics.ts";

const K1 = 1.2;
const B = 0.75;

interface Chunk {
  path: string;
  startLine: number;
  endLine: number;
  length: number;
  characters: number;
}

/** BM25 over chunks (identifiers split, light stem, stop words out), a file as good as its best chunk. */
export class PlainBm25 {
  readonly #chunks: Chunk[] = [];
  readonly #postings = new Map<number, Map<number, number>>();
  #meanLength = 1;

  constructor(corpus: Corpus) {
    let total = 0;
    for (const { path, sha256, language } of corpus.files) {
      const content = corpus.contents.get(`${sha256} ${language}`) as ParsedContent;
      for (const { text, startLine, endLine } of content.chunks) {
        const chunk = this.#chunks.length;
        let length = 0;
        const word = (hash: number): void => {
          length++;
          let postings = this.#postings.get(hash);
          if (!postings) this.#postings.set(hash, (postings = new Map()));
          postings.set(chunk, (postings.get(chunk) ?? 0) + 1);
        };
        scanTerms(text, { word, whole: () => undefined });
        total += length;
        this.#chunks.push({ path, startLine, endLine, length, characters: text.length });
      }
    }
    this.#meanLength = Math.max(1, total / Math.max(1, this.#chunks.length));
  }

  search(query: string, limit: number): Ranked[] {
    const terms = new Set<number>();
    scanTerms(query, { word: (hash) => terms.add(hash), whole: () => undefined });
    const scores = new Float64Array(this.#chunks.length);
    for (const hash of terms) {
      const postings = this.#postings.get(hash);
      if (!postings) continue;
      const idf = Math.log(1 + (this.#chunks.length - postings.size + 0.5) / (postings.size + 0.5));
      for (const [chunk, tf] of postings) {
        const length = (this.#chunks[chunk]?.length ?? 0) / this.#meanLength;
        scores[chunk] = (scores[chunk] as number) + (idf * tf * (K1 + 1)) / (tf + K1 * (1 - B + B * length));
      }
    }
    const order = [...scores.keys()].filter((i) => (scores[i] as number) > 0);
    order.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
    const best = new Map<string, Ranked>();
    for (const i of order) {
      const { path, startLine, endLine, characters } = this.#chunks[i] as Chunk;
      if (!best.has(path)) best.set(path, { path, startLine, endLine, tokens: Math.ceil(characters / 4) });
      if (best.size >= limit) break;
    }
    return [...best.values()];
  }
}

export function hasRipgrep(): boolean {
  return spawnSync("rg", ["--version"]).status === 0;
}

/** Files by the number of lines in which ripgrep finds a word of the query; its output is what is read. */
export function ripgrep(root: string, query: string, passes: (path: string) => boolean, limit: number): Ranked[] {
  const words = [...new Set(query.match(/[\p{L}\p{N}_]{2,}/gu) ?? [])].slice(0, 100);
  if (words.length === 0) return [];
  const { stdout } = spawnSync("rg", ["-i", "-c", "--no-messages", ...words.flatMap((word) => ["-e", word]), "."], {
    cwd: root,
    maxBuffer: 2 ** 28,
    encoding: "utf8",
  });
  return stdout
    .split("\n")
    .flatMap((line) => {
      const at = line.lastIndexOf(":");
      const path = line.slice(0, Math.max(0, at)).replace(/^\.\//, "");
      return at > 0 && passes(path) ? [{ path, count: Number(line.slice(at + 1)) }] : [];
    })
    .sort((a, b) => b.count - a.count || (a.path < b.path ? -1 : 1))
    .slice(0, limit)
    .map(({ path, count }) => ({ path, startLine: 1, endLine: Number.MAX_SAFE_INTEGER, tokens: count * 15 }));
}
