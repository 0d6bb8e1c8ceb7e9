import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type LanguageId, LANGUAGES } from "../../../src/engines/parsing/languages.ts";
import { parsingCases } from "../../support/parsing-cases.ts";
import { CASES_DIGEST } from "./digest.ts";
import { encode, parseText, sharedParser, summarize, violations } from "./support.ts";

const cases = parsingCases();

const LONG = "a".repeat(100);

describe("symbols", () => {
  it.each(cases)("of $file", async ({ language, source, expected }) => {
    const parsed = await parseText(language, source);
    expect(summarize(parsed)).toEqual(expected);
    expect(violations(parsed, encode(source))).toEqual([]);
    expect(parsed.hasErrors).toBe(false);
  });

  it("have a case for every language that has symbols", () => {
    const covered = new Set<LanguageId>(cases.map(({ language }) => language));
    const missing = LANGUAGES.filter(({ id, mode }) => mode !== "plain" && !covered.has(id)).map(({ id }) => id);
    expect(missing).toEqual([]);
  });

  it("are, with the chunks, those that PARSER_VERSION stands for", async () => {
    const parser = await sharedParser();
    const digest = createHash("sha256");
    for (const { language, bytes } of cases) {
      const parsed = await parser.parse({ bytes, language });
      const { text: _text, withheldLines: _withheldLines, uses: _uses, ...result } = parsed;
      digest.update(JSON.stringify(result));
    }
    expect(digest.digest("hex")).toBe(CASES_DIGEST);
  });

  it("survive syntax errors around them", async () => {
    const parsed = await parseText("typescript", "function a() {}\nconst = = ;\nclass B {\n  m() {}\n");
    expect(parsed.hasErrors).toBe(true);
    expect(parsed.outcome).toBe("syntax");
    expect(parsed.symbols.map((symbol) => symbol.qualifiedName)).toContain("a");
  });

  it.each([
    ["java", "class A {\n  @Inject\n  private Foo foo;\n}\n", "@Inject private Foo foo"],
    ["csharp", "class A {\n  [Inject]\n  private Foo foo;\n}\n", "[Inject] private Foo foo"],
    ["kotlin", "class A {\n  @Inject\n  lateinit var foo: Foo\n}\n", "@Inject lateinit var foo: Foo"],
    ["php", "<?php\nclass A {\n  #[Column]\n  private string $foo;\n}\n", "#[Column] private string $foo"],
    ["scala", "class A {\n  @volatile\n  var foo: Int = 1\n}\n", "@volatile var foo: Int = 1"],
    ["swift", "class A {\n  @Published\n  var foo: Int = 1\n}\n", "@Published var foo: Int = 1"],
    ["typescript", "class A {\n  @Input()\n  foo: string;\n}\n", "@Input() foo: string"],
  ] as const)("of fields with an annotation above have the declaration in %s", async (language, text, signature) => {
    const { symbols } = await parseText(language, text);
    expect(symbols.find(({ kind }) => kind === "field")?.signature).toBe(signature);
  });

  it.each([
    ["typescript", `@Component({ template: "${LONG}" })\nexport class A {}\n`, "@Component(…) export class A"],
    ["java", `@Entity\n@Table(name = "${LONG}")\npublic class A {}\n`, "@Entity @Table(…) public class A"],
    ["csharp", `[Route("${LONG}")]\npublic class A {}\n`, "[Route…] public class A"],
    ["php", `<?php\n#[Route("${LONG}")]\nclass A {}\n`, "#[Route…] class A"],
    ["kotlin", `@Named("${LONG}")\nclass A(val b: Int)\n`, "@Named(…) class A(val b: Int)"],
    ["swift", `@available(${LONG}, *)\npublic class A {}\n`, "@available(…) public class A"],
  ] as const)("below a long annotation have the declaration in %s", async (language, text, signature) => {
    const { symbols } = await parseText(language, text);
    expect(symbols[0]?.signature).toBe(signature);
  });

  it.each([
    ["kotlin", "class A {\n  fun `is open`() {}\n}\n", "A.is open"],
    ["scala", "class A {\n  def `type`(): Int = 1\n}\n", "A.type"],
    ["swift", "struct A {\n  static func `default`() -> A { A() }\n}\n", "A.default"],
  ] as const)("of names between backticks have the name that is meant in %s", async (language, text, name) => {
    expect((await parseText(language, text)).symbols.map(({ qualifiedName }) => qualifiedName)).toContain(name);
  });

  it("of types are kept however many members there are", async () => {
    const fields = Array.from({ length: 21_000 }, (_, index) => `int field${index};`).join("\n");
    const { symbols } = await parseText("c", `struct S {\n${fields}\n};\nint after(void);\n`);
    expect(symbols).toHaveLength(20_001);
    expect(symbols.at(-1)).toMatchObject({ kind: "function", name: "after" });
  });

  it("fold a long signature to 300 characters and a doc to 2,000", async () => {
    const parameters = Array.from({ length: 100 }, (_, index) => `parameter${index}: string`).join(",\n  ");
    const doc = " * word".repeat(1).concat("\n * words words words".repeat(200));
    const parsed = await parseText("typescript", `/**\n${doc}\n */\nfunction f(\n  ${parameters}\n) {}\n`);
    const [symbol] = parsed.symbols;
    expect(symbol?.signature).toHaveLength(300);
    expect(symbol?.signature).toMatch(/^function f\( parameter0: string, parameter1: string/);
    expect(symbol?.doc?.length).toBeLessThanOrEqual(2000);
    expect(symbol?.doc).toMatch(/^word\nwords words words\n/);
  });
});
