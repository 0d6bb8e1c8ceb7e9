import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { GREP } from "../../../src/contract/questions.ts";
import { wasm } from "../../../src/engines/parsing/wasm.ts";
import { type GrepOptions, runGrep } from "../../../src/engines/exact/run-grep.ts";
import { compareUtf8 } from "../../../src/engines/search/order.ts";
import type { FileBytes, GrepRequest, MissingText, RevisionTexts, TextFile } from "../../../src/engines/exact/types.ts";

const folder = path.dirname(createRequire(import.meta.url).resolve("rregex/package.json"));
export const regexModule = new wasm.Module(readFileSync(path.join(folder, "lib", "rregex.wasm")));

export type GivenFile = Partial<TextFile> & {
  path: string;
  bytes?: Uint8Array | string;
  withheld?: [number, number][];
};

/** Texts in memory. A file without bytes is not searched, or missing if it has a content all the same. */
export function inMemory(files: readonly GivenFile[], overrides: Partial<RevisionTexts> = {}): RevisionTexts {
  const bytesOf = ({ bytes = "" }: GivenFile) => (typeof bytes === "string" ? Buffer.from(bytes) : bytes);
  const given = files.map((file): TextFile => ({
    revision: 0,
    language: null,
    size: bytesOf(file).length,
    state: file.bytes === undefined && file.content === undefined ? "not_searched" : "indexed",
    content: file.bytes === undefined ? undefined : file.path,
    withheldLines: (file.withheld ?? []).reduce((sum, [from, to]) => sum + to - from + 1, 0),
    ...file,
  }));
  // As every adapter gives them.
  const all = given.toSorted((a, b) => a.revision - b.revision || compareUtf8(a.path, b.path));
  return {
    files: () => Promise.resolve(all),
    candidates: () => Promise.resolve(undefined),
    regexModule: () => Promise.resolve(regexModule),
    async *read(contents): AsyncGenerator<FileBytes | MissingText> {
      for (const content of contents) {
        const file = files.find((each) => (each.content ?? each.path) === content);
        yield file?.bytes === undefined
          ? { content, missing: "not_stored" }
          : { content, bytes: bytesOf(file), withheld: file.withheld ?? [] };
      }
    },
    enclosing: (wanted) => Promise.resolve(wanted.map(({ lines }) => lines.map(() => null))),
    ...overrides,
  };
}

export function request(pattern: string, options: Partial<GrepRequest> = {}): GrepRequest {
  return { pattern, context: GREP.context.default, limit: GREP.limit.default, offset: GREP.offset.default, ...options };
}

/** Searches without a time limit, so that a busy machine finds the same. */
export function grepUntimed(texts: RevisionTexts, wanted: GrepRequest, options: GrepOptions = {}) {
  return runGrep(texts, wanted, { now: () => 0, ...options });
}
