import { createHash } from "node:crypto";
import {
  comparePaths,
  type EmbeddedChunk,
  type SnapshotFile,
  type SnapshotIdentity,
  type SnapshotSource,
} from "../../../src/engines/snapshot/types.ts";
import type { CodeSymbol } from "../../../src/engines/parsing/types.ts";
import { encodeUses } from "../../../src/engines/relations/record.ts";
import type { Meaning, Use } from "../../../src/engines/relations/types.ts";
import { rowsOfUses } from "../../../src/engines/snapshot/uses-rows.ts";
import { seededNumbers } from "../../support/numbers.ts";

export const DIMENSION = 8;

export const IDENTITY: SnapshotIdentity = {
  gitSha: "5".repeat(40),
  fingerprint: "emb_fixture",
  dimension: DIMENSION,
  parserVersion: 3,
};

/**
 * SHA-256 of the artifact of {@link fixtureFiles}: the same in Node and in workerd, on every machine, for this version of the format
 * and of the search segments.
 */
export const FIXTURE_CHECKSUM = "sha256:6d808dbc29297ba252dcdbbe5e557fc86f70f105031fd4df8faf6e708fadcb3f";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const WORDS = [
  "const",
  "return",
  "parse",
  "token",
  "数える",
  "await",
  "value",
  "🙂",
  "class",
  "index",
  "\t{\n",
  "}\n",
  "(",
  ")",
];

/** Files as an index has them: code-like text, nested symbols, shared contents, empty files, withheld chunks. In path order. */
export function fixtureFiles(count = 40, seed = 1): SnapshotFile[] {
  const next = seededNumbers(seed);
  const files = Array.from({ length: count }, (_, index): SnapshotFile => {
    // Every seventh file has the content of the first one; some paths lie beyond the basic plane.
    const content = index % 7 === 6 ? 0 : index;
    const path = `src/${index % 5 === 0 ? "\u{1F4C1}" : index % 5 === 1 ? "\uFFEE" : `dir${index % 3}`}/file-${index}.ts`;
    return { path, ...contentOf(content, content === index ? next : seededNumbers(seed)) };
  });
  return files.toSorted((a, b) => comparePaths(a.path, b.path));
}

function contentOf(index: number, next: (limit: number) => number): Omit<SnapshotFile, "path"> {
  const texts =
    index % 6 === 5
      ? []
      : Array.from({ length: 1 + next(4) }, () =>
          Array.from({ length: 5 + next(60) }, () => WORDS[next(WORDS.length)]).join(" "),
        );
  const symbols: CodeSymbol[] = texts.flatMap((_, at) => [
    {
      kind: "class",
      name: `Class${at}`,
      qualifiedName: `Class${at}`,
      signature: `class Class${at}`,
      doc: at % 2 === 0 ? null : "Says what it is.",
      parent: null,
      ...span(at),
    },
    {
      kind: "method",
      name: "run",
      qualifiedName: `Class${at}.run`,
      signature: "run(): void",
      doc: null,
      parent: 2 * at,
      ...span(at),
    },
  ]);
  const chunks = texts.map((text, at): EmbeddedChunk => {
    const withheld = index % 9 === 4 && at === 0;
    const context = at % 2 === 0 ? "" : `class Class${at}`;
    return {
      text: withheld ? "" : text,
      context: withheld ? "" : context,
      hash: sha256(withheld ? "" : `${context}\n${text}`),
      symbol: at % 3 === 2 ? null : 2 * at + 1,
      withheld,
      vector: withheld ? undefined : halves(next),
      ...span(at),
    };
  });
  const text = texts.join("\n");
  // Every fourth content is in a language without rules for uses.
  const usesRecord = index % 4 === 3 ? undefined : recordOf(texts.length);
  return {
    contentHash: sha256(`${index}${text}`),
    language: "typescript",
    sizeBytes: Buffer.byteLength(text),
    lineCount: 10 * texts.length,
    outcome: texts.length === 0 ? "plain" : "syntax",
    symbols,
    chunks,
    uses: rowsOfUses(usesRecord),
    usesRecord,
  };
}

/** The record of a file that imports a module, and of which each class calls the import and is built by the next. */
function recordOf(classes: number): Uint8Array {
  const imported: Meaning = { to: "import", module: "./parse", name: "parse" };
  const uses = Array.from({ length: classes }, (_, at): Use[] => [
    { kind: "call", name: "parse", line: 10 * at + 3, enclosing: `Class${at}.run`, meaning: imported },
    {
      kind: "construct",
      name: "Class0",
      line: 10 * at + 4,
      enclosing: at % 2 === 0 ? null : `Class${at}`,
      meaning: at === 0 ? { to: "global" } : { to: "member", of: { to: "local", line: 1 }, name: "Class0" },
    },
  ]);
  return encodeUses({
    uses: uses.flat(),
    imports: [{ module: "./parse", name: "*", line: 1 }],
    bindings: new Map([["parse", imported]]),
    exports: new Map(),
    stars: [],
    classes: [],
    returns: new Map(),
    callbacks: new Map(),
  });
}

/** Finite half floats: a high byte below 0x7c leaves infinities and NaN out. */
const halves = (next: (limit: number) => number) =>
  Uint8Array.from({ length: 2 * DIMENSION }, (_, at) => next(at % 2 === 0 ? 256 : 0x7c));

const span = (at: number) => ({
  startLine: 10 * at + 1,
  endLine: 10 * at + 9,
  startByte: 100 * at,
  endByte: 100 * at + 90,
});

export function sourceOf(files: readonly SnapshotFile[], header: SnapshotIdentity = IDENTITY): SnapshotSource {
  return {
    header,
    async *files() {
      yield* files;
    },
  };
}

/** Collects what is written to it. */
export function memorySink(): { write: (bytes: Uint8Array) => Promise<void>; bytes: () => Uint8Array } {
  const parts: Uint8Array[] = [];
  return {
    write: async (bytes) => {
      parts.push(bytes);
    },
    bytes: () => new Uint8Array(Buffer.concat(parts)),
  };
}

export function memoryBytes(bytes: Uint8Array): {
  byteLength: number;
  read: (start: number, end: number) => Promise<Uint8Array>;
} {
  return { byteLength: bytes.length, read: async (start, end) => bytes.subarray(start, end) };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
