import { describe, expect, it } from "vitest";
import { CalleesFinder } from "../../../src/interface/questions/relations/callees.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { callsIn, indexOf } from "./support.ts";

const calls = async (files: Record<string, string>, path: string, names: RegExp): Promise<string[]> =>
  (await callsIn(files, path)).filter((call) => names.test(call));

describe("C++", () => {
  it("takes a variable with arguments for a construction of its class, and a macro on a line of its own for a statement", async () => {
    const files = {
      "parser.h":
        "class Parser {\n public:\n  explicit Parser(int size);\n  int Run();\n};\nint Size();\nvoid Done(int one);\n",
      "parser.cc": '#include "parser.h"\nint Size() { return 1; }\nvoid Done(int one) {}\n',
      "main.cc": [
        '#include "parser.h"',
        "Parser global(1);",
        "int main(int argc) {",
        "  Parser one(argc + 1);",
        "  Parser two{1};",
        "  Parser three(Size());",
        "  Parser four(argc);",
        "  Parser *five;",
        "  BEGIN_THREADS",
        "  Done(1);",
        "  LOCKED",
        "  Size();",
        "  std::string text(1);",
        "}",
      ].join("\n"),
    };
    expect(await callsIn(files, "main.cc")).toEqual([
      "Parser@4 → parser.h:1",
      "Parser@5 → parser.h:1",
      "Parser@6 → parser.h:1",
      "Size@6 → parser.cc:2",
      "Parser@7 → parser.h:1",
      "Done@10 → parser.cc:3",
      "Size@12 → parser.cc:2",
    ]);
  });

  it("looks names up outwards, through namespaces and using declarations, over all files", async () => {
    const files = {
      "a.h": "namespace a {\nint f();\nnamespace b {\nint g();\n}\n}\n",
      "a.cc":
        '#include "a.h"\nnamespace a {\nint f() { return b::g(); }\nnamespace b {\nint g() { return f(); }\n}\n}\n',
      "main.cc": [
        '#include "a.h"',
        "using namespace a;",
        "using a::b::g;",
        "static int own() { return 1; }",
        "namespace { int hidden() { return 2; } }",
        "int main() {",
        "  f();",
        "  g();",
        "  a::b::g();",
        "  ::own();",
        "  hidden();",
        "  std::move(1);",
        "}",
      ].join("\n"),
      "other.cc": "int call() {\n  own();\n  main();\n}\n",
    };
    expect(await callsIn(files, "a.cc")).toEqual(["g@3 → a.cc:5", "f@5 → a.cc:3"]);
    expect(await callsIn(files, "main.cc")).toEqual([
      "f@7 → a.cc:3",
      "g@8 → a.cc:5",
      "g@9 → a.cc:5",
      "own@10 → main.cc:4",
      "hidden@11 → main.cc:5",
      "move@12 → outside",
    ]);
    // A static function is one of its file.
    expect(await callsIn(files, "other.cc")).toEqual(["own@2 → unknown", "main@3 → main.cc:6"]);
  });

  it("leads from a class to definitions in other files, to bases, fields and this", async () => {
    const files = {
      "shape.h": [
        "#pragma once", // 1
        "namespace geo {",
        "class Base {",
        " public:",
        "  int inherited() { return 1; }",
        "};",
        "class Shape : public Base {", // 7
        " public:",
        "  Shape(int x);",
        "  int area() const;",
        "  static Shape* make();",
        "  int twice(int a);",
        "  int twice(double a);",
        "  virtual void draw() = 0;", // 14
        " private:",
        "  Base base_;",
        "  std::unique_ptr<Base> owned_;",
        "  std::vector<Base> many_;",
        "};",
        "}",
      ].join("\n"),
      "shape.cc": [
        '#include "shape.h"',
        "namespace geo {",
        "int Shape::area() const {", // 3
        "  inherited();",
        "  this->area();",
        "  base_.inherited();",
        "  owned_->inherited();",
        "  owned_.inherited();",
        "  many_[0].inherited();",
        "  twice(1);",
        "  return draw();", // 11
        "}",
        "Shape* Shape::make() { return nullptr; }",
        "}",
        "int use(geo::Shape& shape, geo::Shape* p) {", // 15
        "  shape.area();",
        "  p->area();",
        "  auto made = geo::Shape::make();",
        "  made->area();",
        "  auto* fresh = new geo::Shape(1);",
        "  fresh->inherited();",
        "  auto owned = std::make_unique<geo::Shape>(1);",
        "  owned->area();",
        "  auto call = [&](geo::Base b) { b.inherited(); };",
        "  call(1);",
        "}",
      ].join("\n"),
    };
    expect(await calls(files, "shape.cc", /^(?!make_unique)/)).toEqual([
      "inherited@4 → shape.h:5",
      "area@5 → shape.cc:3",
      "inherited@6 → shape.h:5",
      "inherited@7 → shape.h:5",
      "inherited@8 → unknown",
      "inherited@9 → shape.h:5",
      "twice@10 → shape.h:12 | shape.h:13",
      "draw@11 → shape.h:14",
      "area@16 → shape.cc:3",
      "area@17 → shape.cc:3",
      "make@18 → shape.cc:13",
      "area@19 → shape.cc:3",
      "Shape@20 → shape.h:7",
      "inherited@21 → shape.h:5",
      "area@23 → shape.cc:3",
      "inherited@24 → shape.h:5",
      "call@25 → none",
    ]);
  });

  it("abstains from templates and names that are defined in several files", async () => {
    const files = {
      "a.cc": [
        "template <typename T> void use(T t, T* p) {",
        "  t.run();",
        "  p->run();",
        "  both();",
        "}",
        "struct S { void run() {} };",
        "template <> struct V<int> { void run() {} };",
      ].join("\n"),
      "b.cc": "void both() {}\n",
      "c.cc": "void both() {}\nvoid close(int) {}\n",
      "d.cc": "void g() {\n  close(1);\n}\n",
    };
    // A function of the system is rather meant than one of another file.
    expect(await callsIn(files, "d.cc")).toEqual(["close@2 → unknown"]);
    expect(await callsIn(files, "a.cc")).toEqual(["run@2 → unknown", "run@3 → unknown", "both@4 → unknown"]);
  });

  it("tells overloads apart by the number of their arguments, and names those that are left", async () => {
    const files = {
      "split.h": [
        "namespace s {", // 1
        "template <typename D>",
        "int split(const char* text, D by) { return 1; }",
        "template <typename D, typename E = int>",
        "int split(int text, D by) { return 2; }",
        "template <typename D, typename P>", // 6
        "int split(const char* text, D by, P when) { return 3; }",
        "template <typename... A> int all(int first, A&&... rest) { return 4; }",
        "int all() { return 5; }",
        "class Log {", // 10
        " public:",
        "  void add() {}",
        "  void add(int a, int b = 2);",
        "  Log& at(int i) { return *this; }",
        "  const Log& at(int i) const { return *this; }",
        "};",
        "}",
      ].join("\n"),
      "log.cc": '#include "split.h"\nnamespace s {\nvoid Log::add(int a, int b) {}\n}\n',
      "main.cc": [
        '#include "split.h"',
        "#if X",
        "#define CHECK(a) (a)",
        "#else",
        "#define CHECK(a) 1",
        "#endif",
        "template <typename... A> int main(s::Log log, A... more) {",
        '  s::split("a", 1);',
        '  s::split("a", 1, 2);',
        "  s::all(1, 2, 3);",
        "  s::all(/* none */);",
        "  s::split(more...);",
        "  log.add();",
        "  log.add(1);",
        "  log.at(1).add(1, 2);",
        "  CHECK(1);",
        "}",
      ].join("\n"),
    };
    expect(await callsIn(files, "main.cc")).toEqual([
      "split@8 → split.h:3 | split.h:5",
      "split@9 → split.h:7",
      "all@10 → split.h:8",
      "all@11 → split.h:9",
      "split@12 → split.h:3 | split.h:5 | split.h:7",
      "add@13 → split.h:12",
      // The definition does not say that the second argument has a default value.
      "add@14 → log.cc:3",
      "add@15 → log.cc:3",
      "at@15 → split.h:14 | split.h:15",
      "CHECK@16 → main.cc:3 | main.cc:5",
    ]);
    const index = await indexOf(files);
    const certainties = async (lines: readonly number[]) => {
      const asked = (await index.definitions("split")).filter(({ startLine }) => lines.includes(startLine));
      const found = await new UsesFinder(index, "callers").find(asked, 1);
      return found.map(({ line, certainty }) => `${line} ${certainty}`);
    };
    expect(await certainties([3, 5, 7])).toEqual(["8 likely", "9 likely", "12 likely"]);
    // That it is this one of two or three is a guess.
    expect(await certainties([3])).toEqual(["8 name", "9 name", "12 name"]);
    const [main] = await index.definitions("main");
    if (!main) throw new Error("main is not defined");
    const callees = await new CalleesFinder(index).callsIn(main);
    expect(callees.filter(({ line }) => line === 8).map(({ target }) => target?.line)).toEqual([3, 5]);
    expect(new Set(callees.map(({ certainty }) => certainty))).toEqual(new Set(["likely"]));
  });

  it("takes functions of one name that several files define for overloads", async () => {
    const files = {
      "cat.h": "namespace s {\nint cat(int a);\nint cat(int a, int b);\ninline int cat() { return 0; }\n}\n",
      "cat.cc":
        '#include "cat.h"\nnamespace s {\nint cat(int a) { return a; }\nint cat(int a, int b) { return b; }\n}\n',
      "main.cc": '#include "cat.h"\nint main() {\n  s::cat();\n  s::cat(1);\n  s::cat(1, 2);\n}\n',
    };
    expect(await callsIn(files, "main.cc")).toEqual(["cat@3 → cat.h:4", "cat@4 → cat.cc:3", "cat@5 → cat.cc:4"]);
  });

  it("tells no overloads apart where there are very many", async () => {
    const many = Array.from({ length: 1_000 }, (_, i) => `int f(T${i} x) { return 1; }`).join("\n");
    const files = { "a.cc": `${many}\nstruct S {\n${many}\n};\nint g(S s) {\n  f(1);\n  s.f(1);\n}\n` };
    expect(await callsIn(files, "a.cc")).toEqual(["f@2004 → unknown", "f@2005 → unknown"]);
  });

  it("prefers of two programs with the same names the one whose headers a file includes", async () => {
    const program = (header: string) => ({
      [`${header}.hpp`]: "namespace n {\nstruct Ref {\n  int size() { return 1; }\n  int made();\n};\nint trim();\n}\n",
      [`${header}.cpp`]: `#include "${header}.hpp"\nnamespace n {\nint Ref::made() { return size(); }\nint trim() { return 1; }\n}\n`,
    });
    const files = {
      ...program("src/lib/text"),
      ...program("all/whole"),
      "src/lib/deep.hpp": "#include <lib/text.hpp>\n",
      "src/main.cpp":
        '#include "lib/deep.hpp"\nnamespace n {\nvoid run(Ref ref) {\n  trim();\n  ref.size();\n  ref.made();\n}\n}\n',
      "src/blind.cpp": "namespace n {\nvoid run(Ref ref) {\n  trim();\n  ref.size();\n}\n}\n",
    };
    expect(await callsIn(files, "src/main.cpp")).toEqual([
      "trim@4 → src/lib/text.cpp:4",
      "size@5 → src/lib/text.hpp:3",
      "made@6 → src/lib/text.cpp:3",
    ]);
    expect(await callsIn(files, "all/whole.cpp")).toEqual(["size@3 → all/whole.hpp:3"]);
    expect(await callsIn(files, "src/blind.cpp")).toEqual(["trim@3 → unknown", "size@4 → unknown"]);
  });

  it("reads on behind macros before types, and behind heads of one function that a build chooses from", async () => {
    const files = {
      "a.cc": [
        "namespace n {",
        "class N_API Message {",
        " public:",
        "  int size() { return 1; }",
        "};",
        "#if WIDE",
        "int wide(int a[]) {",
        "#else",
        "int main(int a[]) {",
        "#endif",
        "  return 1;",
        "}",
        "int last(Message m) {",
        "  return m.size();",
        "}",
        "}",
      ].join("\n"),
    };
    expect(await callsIn(files, "a.cc")).toEqual(["size@14 → a.cc:4"]);
  });

  it("is never certain, and rules no use out", async () => {
    const files = await indexOf({
      "a.cc": "namespace a {\nvoid f() {}\n}\nvoid own() {\n  a::f();\n}\n",
      "b.cc": "namespace b {\nvoid f() {}\nvoid g() {\n  f();\n}\n}\n",
    });
    const definitions = (await files.definitions("f")).filter(({ path }) => path === "a.cc");
    const callers = await new UsesFinder(files, "callers").find(definitions, 1);
    expect(callers.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`)).toEqual([
      "a.cc:5 likely",
      "b.cc:4 name",
    ]);
    const [own] = await files.definitions("own");
    if (!own) throw new Error("own is not defined");
    expect((await new CalleesFinder(files).callsIn(own)).map(({ certainty }) => certainty)).toEqual(["likely"]);
  });

  it("ends in names and bases that lead to themselves, and in deep namespaces", async () => {
    const files = {
      "a.cc":
        "namespace n { using n::x; using A = B; using B = A; }\nclass C : D {}; class D : C { void m() { none(); x(); } };\nvoid f() { n::x(); n::A::y(); }\n",
    };
    expect((await callsIn(files, "a.cc")).filter((call) => /^(?:none|x|y)@/.test(call))).toEqual([
      "none@2 → unknown",
      "x@2 → unknown",
      "x@3 → unknown",
      "y@3 → outside",
    ]);
    const deep = `${"namespace a {".repeat(2_000)} void f() { f(); ${"(".repeat(2_000)}g()${")".repeat(2_000)}; } ${"}".repeat(2_000)}\n`;
    expect((await callsIn({ "a.cc": deep }, "a.cc")).length).toBeLessThan(3);
  });
});
