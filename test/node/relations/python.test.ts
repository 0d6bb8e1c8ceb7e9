import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

const lines = (...all: string[]): string => all.join("\n");

describe("Python", () => {
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
});
