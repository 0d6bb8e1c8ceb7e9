import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

const lines = (...all: string[]): string => all.join("\n");

describe("Starlark", () => {
  it("knows what is loaded, from the top of the workspace and from beside the file", async () => {
    const files = {
      "tools/rules.bzl": lines("def rule_a(): pass", "def rule_b(): pass"),
      "tools/BUILD": lines('load(":rules.bzl", "rule_a", other = "rule_b")', "rule_a()", "other()", "glob()"),
      "inner/tools/rules.bzl": "def rule_c(): pass",
      "inner/app/BUILD.bazel": lines(
        'load("//tools:rules.bzl", "rule_c")',
        'load("@//tools:rules.bzl", c = "rule_c")',
        'load("@far//tools:rules.bzl", "rule_d")',
        "rule_c()",
        "c()",
        "rule_d()",
      ),
    };
    const calls = async (path: string) => (await callsIn(files, path)).filter((call) => !call.startsWith("load@"));
    expect(await calls("tools/BUILD")).toEqual([
      "rule_a@2 → tools/rules.bzl:1",
      "other@3 → tools/rules.bzl:2",
      "glob@4 → unknown",
    ]);
    expect(await calls("inner/app/BUILD.bazel")).toEqual([
      "rule_c@4 → inner/tools/rules.bzl:1",
      "c@5 → inner/tools/rules.bzl:1",
      "rule_d@6 → outside",
    ]);
  });
});

describe("Python", () => {
  it("finds modules in folders that are no packages", async () => {
    const files = {
      "ns/sub.py": "def f(): pass\n",
      "ns/deep/mod.py": "def g(): pass\n",
      "app.py": lines(
        "import ns.sub, ns.deep.mod, os.path",
        "from ns import sub",
        "from ns.deep import mod",
        "ns.sub.f()",
        "ns.deep.mod.g()",
        "sub.f()",
        "mod.g()",
        "ns.none.f()",
        "os.path.f()",
      ),
    };
    expect(await callsIn(files, "app.py")).toEqual([
      "f@4 → ns/sub.py:1",
      "g@5 → ns/deep/mod.py:1",
      "f@6 → ns/sub.py:1",
      "g@7 → ns/deep/mod.py:1",
      "f@8 → outside",
      "f@9 → none",
    ]);
  });

  it("knows what decorators make of functions, and which of several names gets which value", async () => {
    const kit = lines(
      "class Group:", // 1
      "    def command(self): pass",
      "def group(name=None) -> Group: pass",
      "def timed(f):",
      "    def inner(): return f()",
      "    return inner",
    );
    const app = lines(
      "import functools", // 1
      "from kit import Group, group, timed",
      "@group()",
      "def cli(): pass",
      "@timed",
      "def made() -> Group: pass",
      "@functools.lru_cache(maxsize=1)",
      "def kept() -> Group: pass",
      "@unknown",
      "def odd() -> Group: pass",
      "@cli.command()", // 11
      "def run(): pass",
      "cli()",
      "made().command()",
      "kept().command()",
      "odd().command()",
      "def several():",
      "    a, b = made(), other()", // 18
      "    (c, d) = 1, group()",
      "    e, *f = group(), 2",
      "    a.command()",
      "    b.command()",
      "    d.command()",
      "    e.command()",
    );
    expect(await callsIn({ "app.py": app, "kit.py": kit }, "app.py")).toEqual([
      "group@3 → kit.py:3",
      "group@3 → kit.py:3",
      "timed@5 → kit.py:4",
      "lru_cache@7 → none",
      "lru_cache@7 → none",
      "unknown@9 → unknown",
      "command@11 → kit.py:2 likely",
      "command@11 → kit.py:2 likely",
      "cli@13 → app.py:4",
      "command@14 → kit.py:2",
      "made@14 → app.py:6",
      "command@15 → kit.py:2",
      "kept@15 → app.py:8",
      "command@16 → kit.py:2",
      "odd@16 → app.py:10",
      "made@18 → app.py:6",
      "other@18 → unknown",
      "group@19 → kit.py:3",
      "group@20 → kit.py:3",
      "command@21 → kit.py:2",
      "command@22 → unknown",
      "command@23 → kit.py:2",
      "command@24 → unknown",
    ]);
  });

  it("takes members from a generic base", async () => {
    const text = lines(
      "from typing import Generic, TypeVar",
      "class Kind(Generic[T]):",
      "    def fail(self): pass",
      "class Text(Kind[str]):",
      "    def run(self):",
      "        self.fail()",
      "        super().fail()",
    );
    expect((await callsIn({ "a.py": text }, "a.py")).filter((call) => call.startsWith("fail"))).toEqual([
      "fail@6 → a.py:3",
      "fail@7 → a.py:3",
    ]);
  });

  it("knows the modules of a package as its names, once they are imported anywhere", async () => {
    const files = {
      "a/__init__.py": "from .b import f as bound\nfrom .b import f as c\n",
      "a/b.py": "class C:\n    def m(self): pass\ndef f(): pass\n",
      "a/c.py": "def g(): pass\n",
      "a/d/__init__.py": "VERSION = 1\n",
      "a/d/e.py": "def h(): pass\n",
      "t.py": lines(
        "import a", // 1
        "import a.d.e",
        "a.b.f()",
        "a.b.C().m()",
        "a.d.e.h()",
        "a.c()", // What the package binds itself hides its module.
        "class D(a.b.C): pass",
        "D().m()",
        "a.x.y()",
      ),
    };
    expect(await callsIn(files, "t.py")).toEqual([
      "f@3 → a/b.py:3",
      "m@4 → a/b.py:2",
      "C@4 → a/b.py:1",
      "h@5 → a/d/e.py:1",
      "c@6 → a/b.py:3",
      "C@7 → a/b.py:1",
      "m@8 → a/b.py:2",
      "D@8 → t.py:7",
      "y@9 → unknown",
    ]);
  });
});

it("finds the classes that a module gives with all its names", async () => {
  const files = {
    "pkg/__init__.py": "from .a import *\n",
    "pkg/a.py": "class A:\n    def m(self): pass\n    @staticmethod\n    def s(): pass\n",
    "use.py": "from pkg import *\ndef f(a: A):\n    A.s()\n    A().m()\n    a.m()\n    B().m()\n    str.join()\n",
  };
  expect(await callsIn(files, "use.py")).toEqual([
    "s@3 → pkg/a.py:4",
    "m@4 → pkg/a.py:2",
    "A@4 → pkg/a.py:1",
    "m@5 → pkg/a.py:2",
    "m@6 → unknown",
    "B@6 → unknown",
    "join@7 → unknown",
  ]);
});
