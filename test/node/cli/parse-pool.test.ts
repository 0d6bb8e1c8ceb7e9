import { Script } from "node:vm";
import { expect, it, vi } from "vitest";
import { type ParseAnswer, storeParser } from "../../../src/cli/indexing/parse-file.ts";
import { ParsePool } from "../../../src/cli/indexing/parse-pool.ts";
import { inParsingOrder } from "../../../src/cli/indexing/parsing-order.ts";
import type { LanguageId } from "../../../src/engines/parsing/languages.ts";

const FILES: Partial<Record<LanguageId, string>> = {
  python: "def one():\n    return 1\n",
  go: "package a\n\nfunc One() int { return 1 }\n",
  lua: "function one() return 1 end\n",
  javascript: "export function one() { return 1; }\n",
  java: "class One { int one() { return 1; } }\n",
};

it("replaces a worker that has loaded many grammars, and parses every file", async () => {
  let started = 0;
  const count = (): void => void started++;
  process.on("worker", count);
  // So few files that one worker is enough.
  const pool = new ParsePool(20);
  try {
    const parse = (language: LanguageId, text: string) => pool.parse(new TextEncoder().encode(text), language);
    const first = Array.from({ length: 120 }, (_, i) => parse("python", `x${i} = ${i}\n`));
    const named = Object.entries(FILES) as [LanguageId, string][];
    const rest = named.map(([language, text]) => parse(language, text));
    expect(await Promise.all(first)).toHaveLength(120);
    const inline = storeParser(undefined);
    const requests = named.map(([language, text]) => ({ language, bytes: new TextEncoder().encode(text) }));
    expect(await Promise.all(rest)).toMatchObject(await inline(requests));
    expect(started).toBe(2);
  } finally {
    process.off("worker", count);
    await pool.close();
  }
});

const bytes = (text: string) => new TextEncoder().encode(text);
const PYTHON = { language: "python", bytes: bytes("def one():\n    return 1\n") } as const;
/** A second and a half as TypeScript, a fiftieth of a second as text. */
const SLOW = {
  language: "typescript",
  bytes: bytes("export abstract class A<T> implements B {\n".repeat(4_000)),
} as const;

const outcomesOf = (answers: readonly ParseAnswer[]) =>
  answers.map((answer) => ("outcome" in answer ? answer.outcome : answer));

it("takes a file that is not parsed in time for text, and goes on", async () => {
  const parse = storeParser(undefined, undefined, () => 500);
  const answers = await parse([PYTHON, SLOW, PYTHON, SLOW]);
  expect(outcomesOf(answers)).toEqual(["syntax", "fallback:time", "syntax", "fallback:time"]);
});

it("parses a file again by itself if others have used the time", async () => {
  // The time of the files together ends within one of them, that of one does not.
  const limits: number[] = [];
  const parse = storeParser(undefined, undefined, (byteLength) => {
    limits.push(byteLength);
    return byteLength > SLOW.bytes.byteLength ? 500 : 60_000;
  });
  expect(outcomesOf(await parse([PYTHON, SLOW]))).not.toContain("fallback:time");
  expect(limits).toEqual([PYTHON.bytes.byteLength + SLOW.bytes.byteLength, SLOW.bytes.byteLength]);
});

it("parses a file again if the process was paused, but not for ever", async () => {
  const usage = vi.spyOn(process, "threadCpuUsage").mockReturnValue({ user: 0, system: 0 });
  try {
    const limits = [300, 60_000];
    const parse = storeParser(undefined, undefined, () => limits.shift() ?? 0);
    expect(outcomesOf(await parse([SLOW]))).not.toContain("fallback:time");
    expect(outcomesOf(await storeParser(undefined, undefined, () => 300)([SLOW]))).toEqual(["fallback:time"]);
  } finally {
    usage.mockRestore();
  }
});

it("has all answers if the time ends after the last file", async () => {
  const run = vi.spyOn(Script.prototype, "runInContext").mockImplementationOnce((context) => {
    (context as { work: () => void }).work();
    throw Object.assign(new Error("timed out"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });
  });
  try {
    expect(outcomesOf(await storeParser(undefined)([PYTHON, PYTHON]))).toEqual(["syntax", "syntax"]);
  } finally {
    run.mockRestore();
  }
});

it("orders files by grammar, otherwise as they are given", () => {
  const languages: LanguageId[] = ["go", "markdown", "c", "go", "json", "cpp", "c", "markdown"];
  const files = languages.map((language, position) => ({ language, position }));
  const ordered = inParsingOrder(files).map(({ language, position }) => `${language} ${position}`);
  // Markdown and JSON are parsed without a grammar.
  expect(ordered).toEqual(["go 0", "go 3", "markdown 1", "json 4", "markdown 7", "c 2", "c 6", "cpp 5"]);
});
