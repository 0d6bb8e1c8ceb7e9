import { describe, expect, it } from "vitest";
import { SyntaxEngine } from "../../../src/engines/parsing/engine.ts";
import { nodeGrammars } from "../../../src/engines/parsing/grammars-node.ts";
import { LANGUAGES, type LanguageId } from "../../../src/engines/parsing/languages.ts";
import { encode, parseText, violations } from "./support.ts";

const SIZE = 100_000;
/** Of CPU time for a text of this size. Linear work takes a tenth of it, a quadratic step more. */
const MAX_SECONDS = 3;
const CODE = LANGUAGES.filter(({ id, grammar }) => id === grammar).map(({ id }) => id);
const structured = LANGUAGES.filter(({ mode }) => mode === "structure").map(({ id }) => id);

/** What repeats badly in some pattern or loop: unclosed marks, runs of spaces, many small sections. */
const UNITS = [
  "#\n",
  "## a\n",
  "# [",
  "a:\n",
  " a:\n",
  "a: ",
  "a ",
  " ",
  "\t",
  '"',
  '\\"',
  "/*",
  "/* ",
  "*",
  "'",
  "`",
  "$",
  "$a",
  "{",
  "{}",
  "[",
  "[ ",
  "a=",
  "<h1",
  "<h1>",
  "<a-",
  "<title",
  "<!--",
  "<a id=",
  "url(",
  "#{",
  ";",
  "create table a;",
  "-- a\n",
  "create ",
  "FROM a\n",
  "FROM --a ",
  "a:b\n",
  "define a\n",
];

describe.each(structured)("%s", (language) => {
  it("is read in work that grows with its size", async () => {
    for (const unit of UNITS) {
      const text = unit.repeat(Math.ceil(SIZE / unit.length));
      const started = process.cpuUsage();
      expect(violations(await parseText(language, text), encode(text)), unit).toEqual([]);
      expect(process.cpuUsage(started).user / 1e6, unit).toBeLessThan(MAX_SECONDS);
    }
  });
});

describe("code", () => {
  it.each<[LanguageId, string, string]>([
    ["vue", "<script", ""],
    ["vue", "<script>", ""],
    ["vue", "<style>", ""],
    ["vue", "<script></script>", ""],
    ["vue", "{{", ""],
    ["vue", "{{ a }}", ""],
    ["vue", "<a ", ""],
    ["vue", '<a :b="', ""],
    ["vue", '<a @b="c" ', ""],
    ["vue", "a", '<a :b="'],
    ["vue", "a", "<a :b='c"],
    ["vue", "<!--", ""],
    ["svelte", "{", ""],
    ["svelte", "{a", "}"],
    ["svelte", "{`${", ""],
    ["svelte", "{a}", ""],
    ["svelte", "{#each a as b (", ""],
    ["svelte", "{'a", ""],
    ["svelte", " let:", ""],
    ["python", "# a\n", "def f(): pass\n"],
    ["c", "// a\n", "int a;\n"],
    ["c", "/*", ""],
    ["c", "#define A /* \\\n x\n", ""],
    ["c", "#define A /**/ \\\n", ""],
    ["c", "static int ", ""],
    ["yacc", "%%\na:", ""],
    ["yacc", "a\n", "%%\n"],
    ["yacc", "%{\n", "%%\n"],
    ["yacc", "%%\n{", ""],
    ["yacc", "%%\na\n\n\n", ""],
    ["yacc", "%%\na: {$<", ""],
    ["yacc", "%%\na: '{", ""],
    ["lex", "%{%}\n", "%%\n"],
    ["typescript", "class A { constructor(private a, @a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a b) {} }\n", ""],
    ["javascript", "/**/", "var a;"],
    ["kotlin", "a.a.", "fun b() {}\n"],
  ])("in %s of %j is read in bounded work", async (language, unit, end) => {
    // Errors of a grammar take more time a character.
    const text = unit.repeat(Math.ceil((2 * SIZE) / unit.length)) + end;
    const started = process.cpuUsage();
    expect(violations(await parseText(language, text), encode(text))).toEqual([]);
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(5 * MAX_SECONDS);
  });

  it.each<[LanguageId, string]>([
    ["javascript", "/*\n"],
    ["go", "/*\n"],
    ["python", "\\\n"],
  ])("in %s of %j, each of which is read up to the end, is given up early", async (language, unit) => {
    const text = unit.repeat(Math.ceil((5 * SIZE) / unit.length));
    const started = process.cpuUsage();
    const parsed = await parseText(language, text);
    expect([parsed.outcome, parsed.fallbackReason]).toEqual(["fallback", "budget"]);
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(MAX_SECONDS);
  });

  it.each(CODE)("in %s of a line of operators without operands is read in bounded work", async (language) => {
    for (const unit of ["->", "<!--"]) {
      const text = unit.repeat(5_000 / unit.length);
      const started = process.cpuUsage();
      expect(violations(await parseText(language, text), encode(text)), unit).toEqual([]);
      expect(process.cpuUsage(started).user / 1e6, unit).toBeLessThan(MAX_SECONDS);
    }
  });

  it.each<[LanguageId, string]>([
    ["javascript", "->\n"],
    ["ruby", "<!--\n"],
    // Each comparison can be read in eight ways.
    ["ruby", "<a\n"],
    ["kotlin", "-\n"],
    ["kotlin", "@a\n"],
  ])("in %s of %j, which nests ever deeper, is given up early", async (language, unit) => {
    const text = unit.repeat(Math.ceil((5 * SIZE) / unit.length));
    const started = process.cpuUsage();
    const parsed = await parseText(language, text);
    expect([parsed.outcome, parsed.fallbackReason]).toEqual(["fallback", "budget"]);
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(MAX_SECONDS);
  });

  it.each(["@", "@abc", "@abc(", '@abc("', "@file:"])(
    "Kotlin that ends within an annotation, %s, is parsed",
    async (end) => {
      for (const start of ["", "class A {\n  ", "fun f() {\n  b c\n}\n"]) {
        const text = `${start}val a = 1\n${end}`;
        const parsed = await parseText("kotlin", text);
        expect(parsed.symbols.map(({ name }) => name)).toContain("a");
        expect(violations(parsed, encode(text))).toEqual([]);
      }
    },
  );

  it("Kotlin whose budget of reads ends within an annotation is given up, and the parser goes on", async () => {
    const engine = await SyntaxEngine.create(nodeGrammars());
    const grammar = await engine.grammar("kotlin");
    const parse = (text: string, reads: number) => {
      const units = Uint16Array.from(text, (character) => character.charCodeAt(0));
      return engine.parse(units, text, grammar, { calls: 1_000, reads, errorDepth: 1_000 });
    };
    expect(parse(`val a = 1\n@${"b".repeat(SIZE)}`, 1)).toEqual({ ok: false, reason: "budget" });
    expect(parse("val a = 1\n", 10)).toMatchObject({ ok: true });
  });
});
