/** Repositories as the retrieval benchmark reads them: every file that `codectx` would index, parsed, in memory. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileParser } from "../../src/cli/indexing/parse-file.ts";
import { detectLanguage, isDefaultIncluded } from "../../src/engines/parsing/detect.ts";
import type { LanguageId } from "../../src/engines/parsing/languages.ts";
import { skipReason } from "../../src/engines/parsing/skip.ts";
import { PARSER_VERSION } from "../../src/engines/parsing/version.ts";
import { analyzeContent } from "../../src/engines/search/analyze.ts";
import { inMemory } from "../../src/engines/search/bytes.ts";
import { openIndex, type SearchIndex } from "../../src/engines/search/search-index.ts";
import { Segment } from "../../src/engines/search/segment.ts";
import { buildSegment } from "../../src/engines/search/segment-writer.ts";
import { buildTable } from "../../src/engines/search/table.ts";
import type { RevisionFile, SourceContent, TextSource } from "../../src/engines/search/types.ts";

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** A content with what its symbols' signatures are. */
export interface ParsedContent extends SourceContent {
  signatures: string[];
}

export interface RawFile {
  path: string;
  bytes: Buffer;
}

/** Parses contents once each, however many revisions hold them; with a folder given, also from one run to the next. */
export class ParsedContents {
  readonly #parse = fileParser(undefined);
  readonly #known = new Map<string, ParsedContent | null>();
  readonly #folder: string | undefined;
  parseMs = 0;

  constructor(folder?: string) {
    this.#folder = folder;
  }

  async get(bytes: Buffer, language: LanguageId): Promise<ParsedContent | undefined> {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const key = `${sha256}-${language}`;
    let content = this.#known.get(key) ?? this.#load(key);
    if (content === undefined) {
      const startedAt = performance.now();
      const outcome = await this.#parse(new Uint8Array(bytes), language);
      this.parseMs += performance.now() - startedAt;
      content = null;
      if ("file" in outcome) {
        const { chunks, symbols } = outcome.file;
        content = { sha256, language, chunks, symbols, signatures: symbols.map(({ signature }) => signature) };
      }
      this.#store(key, content);
    }
    this.#known.set(key, content);
    return content ?? undefined;
  }

  #file(key: string): string {
    return path.join(this.#folder ?? "", `v${PARSER_VERSION}`, key.slice(0, 2), `${key}.json`);
  }

  #load(key: string): ParsedContent | null | undefined {
    if (this.#folder === undefined || !existsSync(this.#file(key))) return undefined;
    return JSON.parse(readFileSync(this.#file(key), "utf8")) as ParsedContent | null;
  }

  #store(key: string, content: ParsedContent | null): void {
    if (this.#folder === undefined) return;
    mkdirSync(path.dirname(this.#file(key)), { recursive: true });
    writeFileSync(this.#file(key), JSON.stringify(content));
  }
}

/** The files of a folder, without `.git`. */
export function* filesOfFolder(root: string, below = ""): Generator<RawFile> {
  for (const entry of readdirSync(path.join(root, below)).sort()) {
    const file = below === "" ? entry : `${below}/${entry}`;
    const stat = lstatSync(path.join(root, file));
    if (stat.isDirectory() && entry !== ".git") yield* filesOfFolder(root, file);
    else if (stat.isFile() && stat.size <= MAX_FILE_BYTES && isWanted(file))
      yield { path: file, bytes: readFileSync(path.join(root, file)) };
  }
}

/** The files of a commit in a checkout or a bare repository. */
export function* filesOfCommit(repository: string, commit: string): Generator<RawFile> {
  const git = (args: string[], input?: string): Buffer =>
    execFileSync("git", ["-C", repository, ...args], { input, maxBuffer: 2 ** 31 - 1 });
  const entries = git(["ls-tree", "-r", "-z", "-l", commit])
    .toString("utf8")
    .split("\0")
    .flatMap((line) => {
      const [meta = "", file = ""] = line.split("\t");
      const [mode, , oid = "", size] = meta.split(/ +/);
      return mode?.startsWith("100") === true && Number(size) <= MAX_FILE_BYTES && isWanted(file)
        ? [{ file, oid }]
        : [];
    });
  const blobs = git(["cat-file", "--batch"], entries.map(({ oid }) => `${oid}\n`).join(""));
  let at = 0;
  for (const { file } of entries) {
    const end = blobs.indexOf(10, at);
    const size = Number(blobs.toString("latin1", at, end).split(" ")[2]);
    yield { path: file, bytes: blobs.subarray(end + 1, end + 1 + size) };
    at = end + 1 + size + 1;
  }
}

function isWanted(file: string): boolean {
  return isDefaultIncluded(file) && skipReason(file) === undefined;
}

export interface Corpus {
  files: RevisionFile[];
  contents: Map<string, ParsedContent>;
}

export async function parseFiles(files: Iterable<RawFile>, parsed: ParsedContents): Promise<Corpus> {
  const corpus: Corpus = { files: [], contents: new Map() };
  for (const { path: file, bytes } of files) {
    const language = detectLanguage(file, bytes);
    const content = language && (await parsed.get(bytes, language));
    if (!content) continue;
    corpus.files.push({ path: file, sha256: content.sha256, language: content.language });
    corpus.contents.set(`${content.sha256} ${content.language}`, content);
  }
  return corpus;
}

export interface OpenCorpus {
  corpus: Corpus;
  index: SearchIndex;
  texts: TextSource;
  buildMs: number;
  segmentBytes: number;
}

/** Builds the index of those files of a corpus that pass. */
export async function indexCorpus(corpus: Corpus, passes: (path: string) => boolean = () => true): Promise<OpenCorpus> {
  const files = corpus.files.filter((file) => passes(file.path));
  const wanted = new Set(files.map(({ sha256, language }) => `${sha256} ${language}`));
  const startedAt = performance.now();
  const analyses = [...wanted].map((key) => analyzeContent(corpus.contents.get(key) as ParsedContent));
  const bytes = buildSegment(analyses);
  const segment = await Segment.open(inMemory(bytes));
  const { table } = buildTable(files, [{ id: "segment", segment }]);
  const buildMs = performance.now() - startedAt;
  const index = await openIndex([{ table: inMemory(table), segment: () => inMemory(bytes) }]);
  return {
    corpus: { files, contents: corpus.contents },
    index,
    texts: textsOf(corpus),
    buildMs,
    segmentBytes: bytes.length,
  };
}

function textsOf({ contents }: Corpus): TextSource {
  return (wanted) =>
    wanted.map(({ sha256, language, chunks, symbols }) => {
      const content = contents.get(`${sha256} ${language}`);
      return {
        chunks: chunks.map(({ ordinal }) => content?.chunks[ordinal]?.text ?? ""),
        signatures: symbols.map((ordinal) => content?.signatures[ordinal] ?? ""),
      };
    });
}
