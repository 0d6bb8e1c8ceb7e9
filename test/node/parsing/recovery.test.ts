import { readUses } from "../../../src/engines/relations/read-uses.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MEMORY_LIMIT_BYTES } from "../../../src/engines/parsing/core.ts";
import { ParserUnavailableError, SyntaxEngine } from "../../../src/engines/parsing/engine.ts";
import { nodeGrammars } from "../../../src/engines/parsing/grammars-node.ts";
import type { LanguageId } from "../../../src/engines/parsing/languages.ts";
import { type CodeParser, createParser } from "../../../src/engines/parsing/parser.ts";
import { SourceText } from "../../../src/engines/parsing/source-text.ts";
import { wasm, type WasmTable } from "../../../src/engines/parsing/wasm.ts";
import { parsingCases } from "../../support/parsing-cases.ts";
import { encode, sharedParser } from "./support.ts";

/** Asks the core for memory without end within few operations. Without its blanks it would nest too densely, as the other. */
const HEAP_KILLER = { language: "cpp", text: `a<b,${" ".repeat(44)}\n`.repeat(10_000) } as const;
/** Makes the core recurse until the engine's call stack ends. */
const STACK_KILLER = { language: "typescript", text: `{a:${" ".repeat(24)}\n`.repeat(20_000) } as const;

const cases = parsingCases().map(({ file, language, bytes }) => ({
  file,
  language,
  text: new TextDecoder().decode(bytes),
}));

function parse(parser: CodeParser, { language, text }: { language: LanguageId; text: string }) {
  return parser.parse({ bytes: encode(text), language });
}

async function parseRaw(engine: SyntaxEngine, { language, text }: { language: "cpp" | "python"; text: string }) {
  const units = new SourceText(encode(text)).codeUnits();
  return engine.parse(units, text, await engine.grammar(language));
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a file that the parser's core does not survive", () => {
  it.each([
    ["its heap", HEAP_KILLER, "budget"],
    ["its stack", STACK_KILLER, "parser-error"],
  ] as const)("costs nobody else a tree once it ends %s: all that follows is as in a new process", async (...row) => {
    const [, killer, reason] = row;
    const fresh = await sharedParser();
    const hurt = await createParser(nodeGrammars(), { readUses });
    for (const known of cases) await parse(hurt, known);
    const { outcome, fallbackReason, chunks } = await parse(hurt, killer);
    expect([outcome, fallbackReason]).toEqual(["fallback", reason]);
    expect(chunks.length).toBeGreaterThan(10);
    for (const normal of cases) expect(await parse(hurt, normal), normal.file).toEqual(await parse(fresh, normal));
  });

  it("costs no memory beyond the limit, however often it comes", async () => {
    // What the engine of JavaScript holds beside these follows its garbage collector, and with it the machine's speed.
    const memories = vi.spyOn(wasm, "Memory");
    const tables = vi.spyOn(wasm, "Table");
    const engine = await SyntaxEngine.create(nodeGrammars());
    const kill = async () => {
      expect(await parseRaw(engine, HEAP_KILLER)).toEqual({ ok: false, reason: "budget" });
      expect((await parseRaw(engine, { language: "python", text: "def f(): pass\n" })).ok).toBe(true);
      const [table] = tables.mock.results;
      return { memory: engine.memoryBytes, tableEntries: (table!.value as WasmTable).length };
    };
    const once = await kill();
    expect(once.memory).toBeLessThanOrEqual(MEMORY_LIMIT_BYTES);
    for (let kills = 2; kills <= 8; kills++) expect(await kill()).toEqual(once);
    expect([memories.mock.calls.length, tables.mock.calls.length]).toEqual([1, 1]);
    expect(memories.mock.calls[0]?.[0].maximum).toBe(MEMORY_LIMIT_BYTES / 65_536);
  });

  it("ends in an error only if the core cannot be started again, and only for as long", async () => {
    const parser = await createParser(nodeGrammars());
    await parse(parser, { language: "cpp", text: "int a;\n" });
    vi.spyOn(wasm, "Instance").mockImplementation(function refuse() {
      throw new RangeError("no memory");
    });
    await expect(parse(parser, HEAP_KILLER)).rejects.toThrow(ParserUnavailableError);
    await expect(parse(parser, { language: "cpp", text: "int b;\n" })).rejects.toThrow(ParserUnavailableError);
    expect((await parse(parser, { language: "markdown", text: "# A\n" })).outcome).toBe("structure");
    vi.restoreAllMocks();
    expect((await parse(parser, { language: "cpp", text: "struct C { int d; };\n" })).outcome).toBe("syntax");
  });
});

it("a file whose parse starts over again and again is stopped by how often it reads", async () => {
  const parser = await createParser(nodeGrammars());
  const { outcome, fallbackReason } = await parse(parser, { language: "bash", text: "(a<b>\n".repeat(2000) });
  expect([outcome, fallbackReason]).toEqual(["fallback", "budget"]);
});
