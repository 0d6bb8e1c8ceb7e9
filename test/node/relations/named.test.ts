import { describe, expect, it } from "vitest";
import { decodeUses } from "../../../src/engines/relations/stored-uses.ts";
import type { LanguageId } from "../../../src/engines/parsing/languages.ts";
import { sharedParser } from "../parsing/support.ts";

async function usesOf(language: LanguageId, text: string): Promise<string> {
  const { uses } = await (await sharedParser()).parse({ bytes: Buffer.from(text), language });
  if (!uses) throw new Error(`${language} has no uses`);
  const { uses: own, imports } = decodeUses(uses);
  const named = own.map(({ kind, name, meaning }) => `${kind} ${name}${meaning.to === "global" ? "" : " bound"}`);
  return [...named, ...imports.map(({ module, name }) => `import ${module} ${name}`)].join(", ");
}

describe("languages whose uses are known by name", () => {
  it.each<[LanguageId, string, string]>([
    [
      "swift",
      "import UIKit\nclass A: B, P { func f() { x.run(a: 1); g(); Foo(2) } }\n",
      "inherit B, inherit P, call run, call g, construct Foo, import UIKit *",
    ],
    ["swift", "struct A { func f() { Limits.default() } }", "call default"],
    [
      "scala",
      "import a.b.C\nimport a.b.{D, E => F, _}\nclass A extends Base(1) with T { def f = { x.run(1); g(); new Foo(1); a map h } }\n",
      "inherit Base, inherit T, call run, call g, construct Foo, call map, import a.b C, import a.b D, import a.b E, import a.b *",
    ],
    [
      "scala",
      "object A { def f = { if (x.isEmpty && !ys.exists(_.isOpen)) Node.Leaf.size; C.D(1); t.map { _.go } } }\n",
      "call isEmpty, call exists, call isOpen, call size, construct D, call map, call go",
    ],
    [
      "lua",
      'local m = require("foo.bar")\nfunction f(x) x:go(1) m.run(2) g "s" end\n',
      "call require, call go, call run, call g, import foo.bar *",
    ],
    ["bash", 'source ./lib.sh\nf() { g 1 | h; "$x"; }\n', "call source, call g, call h, import ./lib.sh *"],
    [
      "elixir",
      "defmodule A do\n  alias A.C\n  alias A.{D, E.F}\n  def f(x) do\n    C.run(x) |> g()\n  end\nend\n",
      "call run, call g, import A.C *, import A.D *, import A.E.F *",
    ],
    [
      "elixir",
      "def f(x), do: Enum.map(x, &g/1) ++ Enum.map(x, &M.h/2) |> k\n",
      "call map, call map, call g, call h, call k",
    ],
    [
      "elixir",
      'def f(a) do\n  ~H"""\n  <.button a={price(@x)}>x (y)</.button>\n  <Layouts.app :if={M.ok?(1)}/>\n  """\n  ~s(<.no>)\nend\n',
      "call button, call price, call app, call ok?",
    ],
    ["zig", 'const m = @import("m.zig");\nfn f() void { m.run(1); g(); }\n', "call run, call g, import m.zig *"],
    [
      "dart",
      "import 'a.dart';\n@ann\nclass A extends B with M implements I { void f() { x.run(1); g(); Foo(2); new Bar(); x..y(); } }\n",
      "decorator ann, inherit B, inherit M, inherit I, call run, call g, construct Foo, construct Bar, call y, import a.dart *",
    ],
  ])("%s", async (language, text, expected) => {
    expect((await usesOf(language, text)).split(", ").toSorted()).toEqual(expected.split(", ").toSorted());
  });

  it("bounds what it reads", async () => {
    await usesOf("ruby", `def f\n${"(".repeat(2_000)}a${")".repeat(2_000)}\nend\n`);
    await usesOf("ruby", `${"def f\n".repeat(2_000)}${"end\n".repeat(2_000)}`);
    expect((await usesOf("lua", `function f() ${"f() ".repeat(4_000)} end\n`)).split(", ").length).toBe(4_000);
  });
});
