import { describe, expect, it } from "vitest";
import type { LanguageId } from "../../../src/engines/parsing/languages.ts";
import { encode, parseText, summarize, violations } from "./support.ts";

async function namesOf(language: LanguageId, text: string): Promise<string[]> {
  const parsed = await parseText(language, text);
  expect(violations(parsed, encode(text))).toEqual([]);
  return parsed.symbols.map(({ startLine, qualifiedName }) => `${startLine} ${qualifiedName}`);
}

describe("what an error hides is found", () => {
  it("behind call signatures that the grammar of TSX cannot tell apart, and that of TypeScript can", async () => {
    const signature = "  // overload\n  <P extends string,\n    R = P>(\n    path: P\n  ): R\n";
    const text = `interface Handler {\n${signature.repeat(3)}}\n\nexport class After {\n  run() {}\n}\n\ntype Last = string\n`;
    expect(await parseText("tsx", text)).toMatchObject({ hasErrors: true });
    expect(await parseText("typescript", text)).toMatchObject({ hasErrors: false });
    for (const language of ["tsx", "typescript"] as const) {
      const names = await namesOf(language, text);
      expect(names).toEqual(expect.arrayContaining(["19 After", "20 After.run", "23 Last"]));
    }
  });

  it("reads past macros of C that say where a format is", async () => {
    const text = [
      "static void printflike(3, 4)",
      "add(char **to, size_t *size, const char *format, ...)",
      "{",
      "  put(to);",
      "}",
      "",
      "int __printf(1, 2) say(const char *format, ...)",
      "{",
      "  return put(format);",
      "}",
      "",
      "static char * printflike(1, 2)",
      "made(const char *format, ...)",
      "{",
      "  return max(1, 2);",
      "}",
    ].join("\n");
    const { symbols } = await parseText("c", text);
    expect(symbols.map(({ startLine, endLine, name }) => `${startLine}-${endLine} ${name}`)).toEqual([
      "2-5 add",
      "7-10 say",
      "13-16 made",
    ]);
  });

  it("in function bodies, without a change of lines and ranges", async () => {
    const text =
      "namespace N {\n  class A {\n    void f() {\n      int x = = ;\n      if (x {\n    }\n    int g() { return 1; }\n  }\n}\n";
    const parsed = await parseText("cpp", text);
    expect(summarize(parsed).map((line) => line.split(" ::")[0])).toEqual([
      "1-9 namespace N",
      "2-8 class N::A <- N",
      "3-6 method N::A::f <- N::A",
      "7 method N::A::g <- N::A",
    ]);
  });

  it("behind macros of C and C++", async () => {
    const text =
      "LIB_API int (*Hook)(int a) LIB_ATTR;\n\nclass LIB_EXPORT A : public B {\n  LIB_MUST_USE(1)\n  void f() NOTHROW_IF(x) {}\n};\n\nLIB_BEGIN_SPACE\nint after(void);\nLIB_END_SPACE\n";
    expect(await namesOf("cpp", text)).toEqual(["1 Hook", "3 A", "5 A::f", "9 after"]);
  });

  it("behind annotations of C++ after heads and names, several at once, on their own lines, and with calls in them", async () => {
    const text = [
      "namespace n {",
      "class LIB_LOCKABLE LIB_UNUSED(1) Store : public Base {",
      " public:",
      "  int one() const LIB_EXCLUDED(lock());",
      "  void two(void* to) const override LIB_EXCLUDED(lock()) { f(); }",
      "  void three(int a)",
      "      LIB_EXCLUDED(lock());",
      "  iterator four(int first,",
      "                int last) noexcept",
      "      LIB_BOUND {",
      "    return first;",
      "  }",
      " private:",
      "  Thing* five LIB_GUARDED_BY(lock());",
      "  int six LIB_GUARDED_BY(mutex) = 0;",
      "};",
      "}  // namespace n (of things)",
      "  // (a comment)",
      "  LIB_TEST(Suite, Case) {",
      "    f();",
      "  }",
      "",
    ].join("\n");
    const parsed = await parseText("cpp", text);
    expect(parsed.symbols.map(({ startLine, qualifiedName }) => `${startLine} ${qualifiedName}`)).toEqual([
      "1 n",
      "2 n::Store",
      "4 n::Store::one",
      "5 n::Store::two",
      "6 n::Store::three",
      "8 n::Store::four",
      "14 n::Store::five",
      "15 n::Store::six",
      "19 Suite.Case",
    ]);
    expect(parsed.outcome).toBe("syntax");
  });

  it("behind branches of a build that open the same block, and behind code in comments", async () => {
    const text =
      "#if A\nint wide(int a) {\n#elif B\nint other(int a) {\n#else\nint narrow(int a) {\n#endif\n  return 1;\n}\n// namespace example {\n//   void f() {\n/* class B {\n */\nclass LIB_EXPORT A : public B {\n  void g();\n};\nLIB_API int after(void);\n";
    expect(await namesOf("cpp", text)).toEqual(["6 narrow", "14 A", "15 A::g", "17 after"]);
  });

  it("around conditionals within declarations of C#, whose first branch counts", async () => {
    const text = [
      "namespace N {",
      "  public class Log : ILog",
      "#if ASYNC",
      "    , IAsync",
      "#else",
      "    , ISync",
      "#endif",
      "  {",
      "    ILog For(int one)",
      "#if DEFAULTS // bodies",
      "        => new Setup()",
      "            .Sink(this)",
      "            .Make()",
      "#endif",
      "    ;",
      "    enum Kind {",
      "      One,",
      "#if MORE",
      "      Two,",
      "#endif",
      "    }",
      "#if MORE",
      "    void More() {}",
      "#else",
      "    void Less() {}",
      "#endif",
      "    void Write(string text)",
      "#if DEFAULTS",
      "        => Write(text, null)",
      "#if NESTED",
      "            + 1",
      "#elif OTHER",
      "            + Other()",
      "#endif",
      "#endif",
      "    ;",
      "    void After() {}",
      "  }",
      "}",
    ].join("\n");
    expect(await namesOf("csharp", text)).toEqual([
      "1 N",
      "2 N.Log",
      "9 N.Log.For",
      "16 N.Log.Kind",
      "17 N.Log.Kind.One",
      "19 N.Log.Kind.Two",
      "23 N.Log.More",
      "25 N.Log.Less",
      "27 N.Log.Write",
      "37 N.Log.After",
    ]);
  });

  it("among the members of a type, each by itself", async () => {
    const broken = "    fun broken(suspend: (a: Int) -> Boolean, = 1) {\n    }\n";
    const text = `package p\n\nopen class A(val size: Int) {\n    fun first() {}\n\n${broken}\n    fun last(): Int = 1\n}\n\nfun after() {}\n`;
    const names = await namesOf("kotlin", text);
    expect(names).toEqual(expect.arrayContaining(["3 A", "4 A.first", "9 A.last", "12 after"]));
  });

  it("behind the syntax of zsh, in functions and on their line, and behind here-documents", async () => {
    const text = [
      "function outer {",
      "  (( ${+functions[_a::$1]} )) || { for x ($list[@]) print -r -- ${(q)x} }",
      "  inner() {",
      "    echo ${${(M)@:#-*}[1]}",
      "  }",
      "  cat <<-EOF",
      "\tfake() {",
      "\tEOF",
      "}",
      "short() { [[ $a = (b|c)* ]] && print ${(%):-%x} }",
      "alias after=outer",
      "last()",
      "{",
      "  for k v (${(kv)map}) { print $k }",
      "}",
    ].join("\n");
    expect(await parseText("bash", text)).toMatchObject({ hasErrors: true });
    expect(await namesOf("bash", text)).toEqual(["1 outer", "3 outer.inner", "10 short", "11 after", "12 last"]);
  });

  it("and a file with lines that nothing can read is parsed in part", async () => {
    const parsed = await parseText("go", "package p\n\nfunc A() {}\n\n)))(((\n]]][[[\n{{{)))\n((([[[\n\nfunc B() {}\n");
    expect(parsed.outcome).toBe("partial");
    expect(parsed.symbols.map(({ name }) => name)).toEqual(expect.arrayContaining(["A", "B"]));
  });

  it("within the file's budget, however many errors there are", async () => {
    for (const language of ["typescript", "cpp", "kotlin", "csharp", "python", "elixir"] as const) {
      const text = "class A {\n  x = = (;\n\n} }\n\n".repeat(2000);
      const started = process.cpuUsage();
      expect(violations(await parseText(language, text), encode(text))).toEqual([]);
      const { user } = process.cpuUsage(started);
      expect(user / 1e6, language).toBeLessThan(20);
    }
  });
});

describe("very long lines", () => {
  it("of data cost a file none of its symbols", async () => {
    const text = `function a() {}\nconst image = "${"A".repeat(300_000)}";\n${"// line\n".repeat(20)}function b() {}\n`;
    expect(await namesOf("javascript", text)).toEqual(["1 a", "2 image", "23 b"]);
  });
});
