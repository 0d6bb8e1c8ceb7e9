import { expect, it } from "vitest";
import { callsIn } from "./support.ts";

it("follows objects that are exported, held by fields or spread, and functions that they have by other names", async () => {
  const files = {
    "far.js": "export function far() {}\n",
    "utils.js": [
      "import { far } from './far.js';", // 1
      "const isA = (x) => x;",
      "function each(a, b) {}",
      "const made = kind('a');",
      "export default Object.freeze({",
      "  isA, far, made,",
      "  other: each,",
      "  inner() {},", // 8
      "  deep: { two: each },",
      "});",
    ].join("\n"),
    "more.js": "import base from './utils.js';\nexport default { ...base, own() {} };\n",
    "a.js": "export default (x) => 1;\n",
    "c.js": "export default class { m() {} }\n",
    "app.js": [
      "import utils from './utils.js';", // 1
      "import more from './more.js';",
      "import a from './a.js';",
      "import C from './c.js';",
      "utils.isA(); utils.far(); utils.made(); utils.other(); utils.inner();",
      "utils.deep.two();",
      "more.isA(); more.own();",
      "a(); new C().m();",
      "class K {", // 9
      "  field = { x: new C() };",
      "  constructor() {",
      "    this.more = { z() {} };",
      "  }",
      "  run() { this.field.x.m(); this.more.z(); }",
      "}",
      "function Old() {}",
      "Old.prototype = {",
      "  one() {},", // 18
      "  two: function () { this.one(); },",
      "};",
      "new Old().two();",
    ].join("\n"),
  };
  expect(await callsIn(files, "app.js")).toEqual([
    "isA@5 → utils.js:2",
    "far@5 → far.js:1",
    "made@5 → utils.js:4",
    "other@5 → utils.js:3",
    "inner@5 → utils.js:8",
    "two@6 → utils.js:3 likely",
    "isA@7 → utils.js:2",
    "own@7 → more.js:2",
    "a@8 → a.js:1",
    "m@8 → c.js:1",
    "C@8 → c.js:1",
    "C@10 → c.js:1",
    "m@14 → c.js:1 likely",
    "z@14 → app.js:12",
    "one@19 → app.js:18",
    "two@21 → app.js:19",
    "Old@21 → app.js:16",
  ]);
});
