import { expect, it } from "vitest";
import { storeParser } from "../../../src/cli/indexing/parse-file.ts";
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

it("takes a file that is not parsed in time for text, and goes on", async () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  // A second and a half as TypeScript, a fiftieth of a second as text.
  const slow = bytes("export abstract class A<T> implements B {\n".repeat(4_000));
  const parse = storeParser(undefined, undefined, () => 500);
  const python = { language: "python", bytes: bytes("def one():\n    return 1\n") } as const;
  const typescript = { language: "typescript", bytes: slow } as const;
  const answers = await parse([python, typescript, { ...python }, { ...typescript }]);
  const outcomes = answers.map((answer) => ("outcome" in answer ? answer.outcome : answer));
  expect(outcomes).toEqual(["syntax", "fallback:time", "syntax", "fallback:time"]);
});

it("orders files by grammar, otherwise as they are given", () => {
  const languages: LanguageId[] = ["go", "markdown", "c", "go", "json", "cpp", "c", "markdown"];
  const files = languages.map((language, position) => ({ language, position }));
  const ordered = inParsingOrder(files).map(({ language, position }) => `${language} ${position}`);
  // Markdown and JSON are parsed without a grammar.
  expect(ordered).toEqual(["go 0", "go 3", "markdown 1", "json 4", "markdown 7", "c 2", "c 6", "cpp 5"]);
});
