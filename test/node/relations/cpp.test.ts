import { describe, expect, it } from "vitest";
import { CalleesFinder } from "../../../src/interface/questions/relations/callees.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { callsIn, indexOf } from "./support.ts";

const calls = async (files: Record<string, string>, path: string, names: RegExp): Promise<string[]> =>
  (await callsIn(files, path)).filter((call) => names.test(call));

describe("C++", () => {
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
      "twice@10 → unknown",
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

  it("abstains from overloads, templates and names that are defined in several files", async () => {
    const files = {
      "a.cc": [
        "void over(int) {}",
        "void over(double) {}",
        "template <typename T> void use(T t, T* p) {",
        "  t.run();",
        "  p->run();",
        "  over(1);",
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
    expect(await callsIn(files, "a.cc")).toEqual([
      "run@4 → unknown",
      "run@5 → unknown",
      "over@6 → unknown",
      "both@7 → unknown",
    ]);
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
