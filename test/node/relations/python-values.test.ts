import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

const KIT = [
  "class A:", // 1
  "    def run(self): pass",
  "class B:",
  "    def run(self): pass",
  "",
].join("\n");
const HEAD = "from kit import A, B\n";

/** Where the calls of `run` lead, by line, in a file that imports A and B in its first line. */
async function runs(...lines: string[]): Promise<string[]> {
  const files = { "kit.py": KIT, "app.py": HEAD + lines.join("\n") };
  return (await callsIn(files, "app.py")).filter((call) => call.startsWith("run@"));
}

describe("values of Python", () => {
  it("follows alternatives, as far as they agree", async () => {
    expect(
      await runs(
        "def f(c, a=None, b=None):",
        "    x = A() if c else A()",
        "    x.run()",
        "    y = A() or None",
        "    y.run()",
        "    z = A() if c else B()",
        "    z.run()",
        "    a = a or A()",
        "    a.run()",
        "    (w := A()).run()",
        "    w.run()",
        "class C:",
        "    def __init__(self, a=None):",
        "        self.a = a or A()",
        "    def go(self): self.a.run()",
      ),
    ).toEqual([
      "run@4 → kit.py:2",
      "run@6 → kit.py:2",
      "run@8 → unknown",
      "run@10 → kit.py:2 likely",
      "run@11 → kit.py:2",
      "run@12 → kit.py:2",
      "run@16 → kit.py:2 likely",
    ]);
  });

  it("knows what lists hold", async () => {
    expect(
      await runs(
        "def f(n):",
        "    for x in [A(), A()]:",
        "        x.run()",
        "    xs = [A() for _ in range(n)]",
        "    xs[0].run()",
        "    for y in [A(), B()]:",
        "        y.run()",
      ),
    ).toEqual(["run@4 → kit.py:2", "run@6 → kit.py:2", "run@8 → unknown"]);
  });

  it("knows what generators yield", async () => {
    expect(
      await runs(
        "import contextlib",
        "def each():",
        "    yield A()",
        "for x in each(): x.run()",
        "@contextlib.contextmanager",
        "def opened():",
        "    yield A()",
        "with opened() as y: y.run()",
        "def all(): yield from each()",
        "for z in all(): z.run()",
      ),
    ).toEqual(["run@5 → kit.py:2", "run@9 → kit.py:2 likely", "run@11 → unknown"]);
  });

  it("knows what functions return, for sure where neither a subclass nor a decorator may change it", async () => {
    expect(
      await runs(
        "class C:",
        "    def one(self): return A()",
        "    def run(self): pass",
        "    def me(self): return self",
        "    @classmethod",
        "    def make(cls): return cls()",
        "def maybe(a):",
        "    if not a: return None",
        "    return A() if a.x else A()",
        "@changed",
        "def decorated(): return A()",
        "C().one().run()", // 13
        "C().me().run()",
        "C.make().run()",
        "maybe(1).run()",
        "decorated().run()",
      ),
    ).toEqual([
      "run@13 → kit.py:2",
      "run@14 → app.py:4 likely",
      "run@15 → app.py:4 likely",
      "run@16 → kit.py:2",
      "run@17 → kit.py:2 likely",
    ]);
  });

  it("knows what a condition tells of a name, until the name is bound again", async () => {
    expect(
      await runs(
        "def f(x, y, z):",
        "    if isinstance(x, A):",
        "        x.run()",
        "        v = B()",
        "    elif isinstance(x, B) and y:",
        "        x.run()",
        "    else:",
        "        x.run()",
        "    v.run()",
        "    if isinstance(y, A):",
        "        y = z",
        "        y.run()",
        "    assert isinstance(z, A)",
        "    z.run()",
        "    return isinstance(x, A) and x.run()",
      ),
    ).toEqual([
      "run@4 → kit.py:2",
      "run@7 → kit.py:4",
      "run@9 → unknown",
      "run@10 → kit.py:4",
      "run@13 → unknown",
      "run@15 → kit.py:2 likely",
      "run@16 → kit.py:2",
    ]);
  });

  it("knows type parameters by their bounds, Self, and properties without a declared type", async () => {
    expect(
      await runs(
        "from typing import Self, TypeVar",
        'T = TypeVar("T", bound="A")',
        "def f(x: T): x.run()",
        "def g[U: B](x: U): x.run()",
        "def h[U](x: U): x.run()",
        "class C:",
        "    @property",
        "    def a(self): return A()",
        "    def with_a(self) -> Self: return self",
        "    def run(self): self.a.run()",
        "C().with_a().run()",
      ),
    ).toEqual([
      "run@4 → kit.py:2 likely",
      "run@5 → kit.py:4 likely",
      "run@6 → unknown",
      "run@11 → kit.py:2 likely",
      "run@12 → app.py:11",
    ]);
  });
});
