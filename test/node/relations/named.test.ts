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
      "inherit Base, inherit T, call run, call g, construct Foo, call map, reference x, reference a, reference h, import a.b C, import a.b D, import a.b E, import a.b *",
    ],
    [
      "scala",
      "object A { def f = { if (x.isEmpty && !ys.exists(_.isOpen)) Node.Leaf.size; C.D(1); t.map { _.go } } }\n",
      "call isEmpty, call exists, call isOpen, call size, construct D, call map, call go, reference x, reference ys, reference t",
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

  it.each<[LanguageId, string, string]>([
    [
      "swift",
      `class A: UIViewController {
  let onDone: () -> Void
  func load(given: Int) {
    Button(action: save) { go() }
    add(self, action: #selector(tap)); list.map(convert); a |> mw
    self.save(); other.save(); run(given, onDone, self.onDone, self.later, Help.show)
  }
  func save() { let cb = 1; if let x = y { run(cb, x) }; list.map { item in run(item) } }
  func tap() { twice() }
  func twice() {}; func twice(_ a: Int) {}
}
`,
      "4 reference save:8, 5 reference tap:9, 5 reference convert, 5 reference a, 5 reference mw, 6 call save:8, 6 call save, 6 reference later, 9 call twice",
    ],
    [
      "dart",
      `class B extends Bloc {
  B(this.repo) : super(_init) {
    on(_onTick, handler: this._onGo);
  }
  final Repo repo;
  void _onTick(e, emit) {
    _onGo(e); repo.run(repo, e, Icons.run); x.then(handle);
  }
  void _onGo(e) => later;
  Future<void> handle() async { for (final i in xs) { run(i); } var h = _onTick; run(h); }
}
void top(int a) { inner(a); void inner(x) { run(x); } }
`,
      "2 reference _init, 3 reference _onTick:6, 3 reference _onGo:9, 7 call _onGo:9, 7 call run, 7 reference handle:10, 9 reference later, 10 call run, 10 reference _onTick:6, 10 call run, 12 call inner:12, 12 call run",
    ],
    [
      "scala",
      `class A(val n: Int, f: Int => Int) extends B {
  def run(x: Int): Int = { val z = xs.map(conv); val (p, q) = t; run(z, p, n, x, f) }
  def conv(i: Int) = i match { case k => use(k) }
  def conf = handler
  def all = for { u <- conf.list; v = u } yield this.conv(v)
}
`,
      "2 reference xs, 2 reference conv:3, 2 reference t, 2 call run:2, 4 reference handler, 5 reference conf:4, 5 call conv:3",
    ],
    [
      "lua",
      `local M = {}
local function f(a) return a end
function M.g(x) return f end
function M:h() self:h() on(f, x) t = { run = M.g, y = M.zz } M.g(1) M.h(2) end
M.k = function(y) run(y) end
local k = function() end
k() run(k, M.k)
`,
      "3 reference f:2, 4 call h, 4 reference f:2, 4 reference x, 4 reference g:3, 4 call g:3, 4 call h:4, 5 call run, 7 call k:6, 7 call run, 7 reference k:6, 7 reference k:5",
    ],
    [
      "zig",
      `pub fn f(a: u8) !void {
    const c = a; try run(g, .{ .cb = h }); for (xs) |x| { use(x, c); } return done;
}
fn g() void { f(1); }
pub const table = .{ .{ "a", &f } };
`,
      "2 call run, 2 reference g:4, 2 reference h, 2 reference done, 4 call f:1, 5 reference f:1",
    ],
    [
      "bash",
      "f() { g x; }\ng() { f; }\ntrap cleanup EXIT\ncomplete -F _foo bar\nrun f\n",
      "1 call g:2, 2 call f:1, 3 reference cleanup, 4 reference _foo, 5 call run, 5 reference f:1",
    ],
  ])("%s knows its own functions, and those that are named without being called", async (language, text, expected) => {
    const { uses } = await (await sharedParser()).parse({ bytes: Buffer.from(text), language });
    const own = uses ? decodeUses(uses).uses : [];
    const shown = own.map(({ kind, name, line, meaning }) => {
      const isLocal = meaning.to === "local";
      return `${line} ${kind} ${name}${isLocal ? `:${meaning.line}` : ""}`;
    });
    // What is called of other files is known by its name alone.
    const OTHERS =
      /^\d+ (?:(?:inherit|construct) \w+|call (?:go|add|map|on|then|list|use|trap|complete))$|^[4-9] call run$/;
    expect(shown.filter((each) => !OTHERS.test(each)).toSorted()).toEqual(
      expected
        .split(", ")
        .filter((each) => !OTHERS.test(each))
        .toSorted(),
    );
  });

  it("bounds what it reads", async () => {
    await usesOf("ruby", `def f\n${"(".repeat(2_000)}a${")".repeat(2_000)}\nend\n`);
    await usesOf("ruby", `${"def f\n".repeat(2_000)}${"end\n".repeat(2_000)}`);
    expect((await usesOf("lua", `function f() ${"f() ".repeat(4_000)} end\n`)).split(", ").length).toBe(4_000);
  });
});
