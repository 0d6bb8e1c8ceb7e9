import { expect, it } from "vitest";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { callPaths } from "../../../src/interface/questions/relations/path.ts";
import { indexesOf, indexOf } from "./support.ts";

async function pathsBetween(given: Record<string, string>, from: string, to: string): Promise<string[]> {
  const { paths } = await callPaths(await indexesOf(given), { from, to, limit: 5 });
  return paths.map((steps) => steps.map(({ name, certainty }) => `${name} ${certainty}`).join(" → "));
}

it("leads through a method that is overridden, and through the construction of a class alone", async () => {
  const files = {
    "a.py": [
      "class Base:",
      "    def send(self): pass",
      "class Own(Base):",
      "    def send(self): deep()",
      "def deep(): pass",
      "class Session:",
      "    def __init__(self): setup()",
      "    def close(self): closing()",
      "def setup(): pass",
      "def closing(): pass",
      "def start(base: Base):",
      "    Session()",
      "    base.send()",
    ].join("\n"),
  };
  expect(await pathsBetween(files, "start", "deep")).toEqual([
    "start certain → Base.send certain → Own.send likely → deep certain",
  ]);
  expect(await pathsBetween(files, "start", "setup")).toEqual(["start certain → Session certain → setup certain"]);
  // Its methods do not run where a class is constructed.
  expect(await pathsBetween(files, "start", "closing")).toEqual([]);
  expect(await pathsBetween(files, "Session", "closing")).toEqual(["Session certain → closing certain"]);
});

it("callers in languages that cannot call a definition are not read", async () => {
  const files = await indexOf({
    "a.py": "def parse_all(): pass\nparse_all()\n",
    "b.ts": "parse_all();\n",
    "c.ts": 'import x from "nowhere";\nx();\nexport default function () {}\n',
  });
  const read: string[] = [];
  const uses = files.uses.bind(files);
  files.uses = (path) => (read.push(path), uses(path));
  const found = await new UsesFinder(files, "callers").find(await files.definitions("parse_all"), 1);
  expect(found.map(({ path, line }) => `${path}:${line}`)).toEqual(["a.py:2"]);
  expect(read).not.toContain("b.ts");
  // What another package exports as its default has no name by which it could be a caller.
  expect(await new UsesFinder(files, "callers").find(await files.definitions("default"), 1)).toEqual([]);
});
