import { beforeAll, describe, expect, it } from "vitest";
import { parsePatch } from "../../../src/engines/impact/patch.ts";
import type { LanguageId } from "../../../src/engines/parsing/languages.ts";
import type { DefinedSymbol } from "../../../src/engines/relations/question-files.ts";
import { touchedBy } from "../../../src/interface/questions/impact/touched.ts";
import { sharedParser } from "../parsing/support.ts";

const SOURCES = {
  php: "<?php\nclass Logger\n{\n    /** @var string */\n    private $name;\n\n    /**\n     * Adds.\n     */\n    #[NoDiscard]\n    public function add($level)\n    {\n        return $level;\n    }\n\n    public function last()\n    {\n        return 1;\n    }\n}\n",
  typescript:
    "export class Store {\n  size = 0;\n\n  @memoized()\n  read(): string {\n    return String(this.size);\n  }\n\n  @Input() name = 1;\n}\n",
  java: "class Store {\n  @Nullable\n  private int size;\n\n  @Override\n  public int size() {\n    return size;\n  }\n\n  int more() {\n    return 2;\n  }\n}\n",
  go: "package a\n\n// Server serves.\ntype Server struct {\n\tport int\n}\n\n// Run runs.\nfunc (s *Server) Run() int {\n\treturn s.port\n}\n",
  python:
    "class Store(Base):\n    size = 1\n\n    # Reads.\n    @cached\n    def read(self):\n        return 1\n\n    def last(self):\n        return 2\n\n\n@route('/')\ndef top():\n    return 3\n",
} as const;
type Language = keyof typeof SOURCES;

const symbols = new Map<Language, DefinedSymbol[]>();

beforeAll(async () => {
  const parser = await sharedParser();
  for (const [name, text] of Object.entries(SOURCES)) {
    const language = name as Language & LanguageId;
    const parsed = await parser.parse({ bytes: Buffer.from(text), language });
    symbols.set(
      language,
      parsed.symbols.map((symbol) => Object.assign({ path: `a.${name}` }, symbol)),
    );
  }
});

/** What a patch touches whose lines begin at `start` of a source; `~` stands before a class that only gets or loses functions. */
function touched(language: Language, side: "old" | "new", start: number, lines: readonly string[]): string[] {
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign) || line.startsWith(" ")).length;
  // An empty side begins after the line before it.
  const at = (own: number) => `${own === 0 ? start - 1 : start},${own}`;
  const patch = `--- a/a\n+++ b/a\n@@ -${at(count("-"))} +${at(count("+"))} @@\n${lines.join("\n")}\n`;
  const hunks = parsePatch(patch).flatMap((file) => file.hunks.map((hunk) => hunk.lines));
  const { own, around } = touchedBy(symbols.get(language) ?? [], hunks, side);
  return [...own.map(({ qualifiedName }) => qualifiedName), ...around.map(({ qualifiedName }) => `~${qualifiedName}`)];
}

const METHOD = ["+    public function added()", "+    {", "+        return 1;", "+    }", "+"];

describe("what a change touches", () => {
  it.each<[string, Language, number, string[], string[]]>([
    [
      "the head of a method",
      "php",
      11,
      ["-    public function add()", "+    public function add($level)"],
      ["Logger::add"],
    ],
    ["a field", "php", 5, ["-    private $names;", "+    private $name;"], ["Logger"]],
    ["the head of a class", "php", 2, ["-class Log", "+class Logger"], ["Logger"]],
    ["a comment of a method", "php", 8, ["-     * Adds", "+     * Adds."], []],
    ["an attribute of a method", "php", 10, ["+    #[NoDiscard]"], ["Logger::add"]],
    [
      "a method that is new",
      "php",
      15,
      ["+", "+    public function last()", "+    {", "+        return 1;", "+    }"],
      ["Logger::last"],
    ],
    ["a method that is gone", "php", 15, METHOD.map((line) => line.replace("+", "-")), ["~Logger"]],
    ["a field that is gone", "php", 6, ["-    private $other;"], ["Logger"]],
    ["blank lines that are gone", "php", 15, ["-", "-"], []],
    ["lines of a method that are gone", "php", 13, ["-        $level++;"], ["Logger::add"]],
    [
      "the first method and the line before it",
      "typescript",
      4,
      ["-  @slow()", "-  read() {", "+  @memoized()", "+  read(): string {"],
      ["Store.read"],
    ],
    ["a decorator of a method", "typescript", 4, ["-  @slow()", "+  @memoized()"], ["Store.read"]],
    ["a decorator of a field", "typescript", 9, ["-  @Input() names = 1;", "+  @Input() name = 1;"], ["Store"]],
    ["an annotation of a method", "java", 5, ["+  @Override"], ["Store.size"]],
    ["an annotation of a field", "java", 2, ["+  @Nullable"], ["Store"]],
    [
      "the line after a method and the next one's head",
      "java",
      9,
      ["-", "-  int more(int a) {", "+", "+  int more() {"],
      ["Store.more"],
    ],
    ["a method of a struct", "go", 9, ["-func (s *Server) Run() {", "+func (s *Server) Run() int {"], ["Server.Run"]],
    ["a field of a struct", "go", 5, ["-\tports int", "+\tport int"], ["Server.port"]],
    ["a comment of a struct", "go", 3, ["-// Server runs.", "+// Server serves."], []],
    ["a decorator of a method", "python", 5, ["+    @cached"], ["Store.read"]],
    ["an attribute of a class", "python", 2, ["-    size = 2", "+    size = 1"], ["Store"]],
    ["a decorator of a function", "python", 13, ["-@route('/a')", "+@route('/')"], ["top"]],
  ])("%s of %s, which the index has", (_, language, start, lines, expected) => {
    expect(touched(language, "new", start, lines)).toEqual(expected);
  });

  it("is told from the other side as well", () => {
    expect(touched("php", "old", 11, ["-    public function add($level)", "+    public function add()"])).toEqual([
      "Logger::add",
    ]);
    expect(touched("php", "old", 15, METHOD)).toEqual(["~Logger"]);
    expect(touched("php", "old", 6, ["+    private $other;"])).toEqual(["Logger"]);
    expect(touched("php", "old", 7, ["+    /**", "+     * Adds.", "+     */"])).toEqual([]);
  });

  it("is the class itself where it changes elsewhere, too", () => {
    const lines = ["-    private $names;", "+    private $name;", " ", ...METHOD.map((line) => line.replace("+", "-"))];
    expect(touched("php", "new", 5, lines)).toEqual(["Logger"]);
  });
});
