import { expect, it } from "vitest";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { importersOf } from "../../../src/interface/questions/relations/importers.ts";
import { callsIn, indexOf } from "./support.ts";

it("follows modules that are required where they are used, objects that functions return, and `this` of what a module exports", async () => {
  const files = {
    "lib/response.js": [
      "module.exports = {", // 1
      "  get(name) { return this.header[name]; },",
      "  type() { return this.get('Content-Type'); },", // 3
      "  nested: { deep() { this.get('a'); } },",
      "};",
    ].join("\n"),
    "lib/made.js": [
      "module.exports = function (options) {", // 1
      "  if (!options) return {}; return { start() {}, stop };",
      "  function stop() {}", // 3
      "};",
      "const other = () => /* made */ ({ run() {} });", // 5
      "other().run();",
      "configure({ value: { get() { return other(); } }, own() { return /* it */ this.stop(); } });",
      "class K {", // 8
      "  m() { later(function () { this.n(); }); later(() => this.n()); }",
      "  n() {}", // 10
      "}",
    ].join("\n"),
    "app.js": [
      "require('./lib/response').get('a');", // 1
      "require('./lib/made')().start();",
      "const made = require('./lib/made')({});",
      "made.stop();",
      "async function f() { const r = await import('./lib/response.js'); r.type(); }", // 5
      "this.response = require('./lib/response');",
      "const { stop: end } = require('./lib/made')({});", // 7
      "const all = { end };",
      "all.end();",
    ].join("\n"),
  };
  expect(await callsIn(files, "lib/response.js")).toEqual(["get@3 → lib/response.js:2", "get@4 → unknown"]);
  expect(await callsIn(files, "lib/made.js")).toEqual([
    "stop@2 → lib/made.js:3",
    "run@6 → lib/made.js:5",
    "other@6 → lib/made.js:5",
    "configure@7 → unknown",
    "other@7 → lib/made.js:5",
    "stop@7 → unknown",
    "later@9 → unknown",
    "n@9 → unknown",
    "later@9 → unknown",
    "n@9 → lib/made.js:10",
  ]);
  expect(await callsIn(files, "app.js")).toEqual([
    "get@1 → lib/response.js:2",
    "require@1 → unknown",
    "start@2 → lib/made.js:2 likely",
    "require@2 → unknown",
    "require@3 → unknown",
    "stop@4 → lib/made.js:3 likely",
    "type@5 → lib/response.js:3",
    "require@6 → unknown",
    "require@7 → unknown",
    "end@8 → lib/made.js:3 likely",
    "end@9 → lib/made.js:3 likely",
  ]);
});

it("finds who requires a package by its folder, and takes scripts before declarations in JavaScript alone", async () => {
  const files = await indexOf({
    "package.json": JSON.stringify({ name: "server", main: "lib/application.js", types: "lib/application.d.ts" }),
    "index.js": "module.exports = class Other {};\n",
    "lib/application.js": "module.exports = class Application { listen() {} };\n",
    "lib/application.d.ts": "export default class Application { listen(): void }\n",
    "test/a.test.js": "const Server = require('..');\nnew Server().listen();\n",
    "test/b.test.ts": "import Server from '../lib/application.js';\nnew Server().listen();\n",
  });
  const callersOf = async (name: string, path: string) => {
    const own = (await files.definitions(name)).filter((each) => each.path === path);
    const found = await new UsesFinder(files, "callers").find(own, 1);
    return found.map((each) => `${each.path}:${each.line} ${each.certainty}`);
  };
  expect(await callersOf("Application", "lib/application.js")).toEqual(["test/a.test.js:2 certain"]);
  expect(await callersOf("listen", "lib/application.js")).toEqual(["test/a.test.js:2 certain"]);
  expect(await callersOf("listen", "lib/application.d.ts")).toEqual(["test/b.test.ts:2 certain"]);
  const importers = await importersOf(files, "lib/application.js");
  expect(importers.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`)).toEqual([
    "test/a.test.js:1 certain",
  ]);
});
