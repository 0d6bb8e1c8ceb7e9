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

it("follows calls by their names where nothing surer leads to the definition", async () => {
  const files = {
    "a.js": [
      "export function start(shop) { shop.checkout(); known(); }",
      "function known() { sure(); }",
      "function sure() {}",
      "class Shop { checkout() { pay(); sure(); } }",
      "function pay() {}",
    ].join("\n"),
    "b.js": [
      "export function enter(any) { any.open(); }",
      ...["A", "B", "C", "D"].map((name) => `class ${name} { open() { leave(); } }`),
      "function leave() {}",
    ].join("\n"),
  };
  expect(await pathsBetween(files, "start", "pay")).toEqual(["start certain → Shop.checkout name → pay certain"]);
  expect(await pathsBetween(files, "start", "sure")).toEqual(["start certain → known certain → sure certain"]);
  // A name that many definitions have says nothing.
  expect(await pathsBetween(files, "enter", "leave")).toEqual([]);
});

it("follows the functions that lines name in a language without a grammar, and the includes of a chart", async () => {
  const haskell = ["startServer = openDoors 1", "", "openDoors n = ring n", "", "ring n = n"].join("\n");
  expect(await pathsBetween({ "A.hs": haskell }, "startServer", "ring")).toEqual([
    "startServer certain → openDoors likely → ring name",
  ]);
  const chart = [
    '{{- define "shop.name" -}}{{ .Chart.Name }}{{- end }}',
    '{{- define "shop.labels" -}}',
    'name: {{ include "shop.name" . }}',
    "{{- end }}",
  ].join("\n");
  expect(await pathsBetween({ "templates/_helpers.tpl": chart }, "shop.labels", "shop.name")).toEqual([
    "shop.labels certain → shop.name name",
  ]);
});
