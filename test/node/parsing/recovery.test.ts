import { readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MEMORY_LIMIT_BYTES } from "../../../src/parsing/core.ts";
import { ParserUnavailableError, SyntaxEngine } from "../../../src/parsing/engine.ts";
import { nodeGrammars } from "../../../src/parsing/grammars-node.ts";
import { type CodeParser, createParser, isLanguageId, type LanguageId } from "../../../src/parsing/index.ts";
import { wasm } from "../../../src/parsing/wasm.ts";
import { encode } from "./support.ts";

/** Asks the core for memory without end within few operations. */
const HEAP_KILLER = { language: "cpp", text: "a<b,\n".repeat(80_000) } as const;
/** Makes the core recurse until the engine's call stack ends. */
const STACK_KILLER = { language: "typescript", text: "{a:\n".repeat(20_000) } as const;

const folder = new URL("cases/", import.meta.url);
const cases = readdirSync(folder).map((file) => {
  const language = file.replace(/(?:-\w+)?\.txt$/, "");
  if (!isLanguageId(language)) throw new Error(`${file} does not begin with a language.`);
  return { file, language, text: readFileSync(new URL(file, folder), "utf8") };
});

function parse(parser: CodeParser, { language, text }: { language: LanguageId; text: string }) {
  return parser.parse({ bytes: encode(text), language });
}

async function parseRaw(engine: SyntaxEngine, language: "cpp" | "python", text: string) {
  const units = Uint16Array.from(text, (character) => character.charCodeAt(0));
  return engine.parse(units, text, await engine.grammar(language));
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a file that the parser's core does not survive", () => {
  it("costs nobody else a tree: all that follows is as in a new process", async () => {
    const fresh = await createParser(nodeGrammars());
    const hurt = await createParser(nodeGrammars());
    for (const [index, normal] of cases.entries()) {
      const killer = index % 2 === 0 ? HEAP_KILLER : STACK_KILLER;
      const { outcome, fallbackReason, chunks } = await parse(hurt, killer);
      expect([outcome, fallbackReason]).toEqual(["fallback", index % 2 === 0 ? "budget" : "parser-error"]);
      expect(chunks.length).toBeGreaterThan(10);
      expect(await parse(hurt, normal), normal.file).toEqual(await parse(fresh, normal));
    }
  });

  it("costs no memory beyond the limit, however often it comes", async () => {
    const engine = await SyntaxEngine.create(nodeGrammars());
    let early = 0;
    for (let kill = 1; kill <= 30; kill++) {
      const result = await parseRaw(engine, HEAP_KILLER.language, HEAP_KILLER.text);
      expect(result).toEqual({ ok: false, reason: "budget" });
      expect((await parseRaw(engine, "python", "def f(): pass\n")).ok).toBe(true);
      expect(engine.memoryBytes).toBeLessThanOrEqual(MEMORY_LIMIT_BYTES);
      if (kill === 5) early = process.memoryUsage.rss();
    }
    // Were the cores' memories not the same one, the last 25 would take 1.8 GB.
    expect(process.memoryUsage.rss() - early).toBeLessThan(300_000_000);
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
