import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

const FILES = {
  "a.ts": `export class A {
  #load() {}
  static #make() {}
  get #size() {
    return 1;
  }
  load() {}
  run(other: A) {
    this.#load();
    other.#load();
    A.#make();
    this.load();
    const size = this.#size + 1;
    return this.#size;
  }
}
class B {
  #load() {}
  get #size() {
    return 1;
  }
  run() {
    this.#load();
    const size = this.#size + 1;
  }
}
`,
  "b.js": 'import { A } from "./a.ts";\nnew A().load();\n',
};

it("finds the calls of private members, which others of the name without the sign do not share", async () => {
  expect(await callersOf(FILES, "A.#load")).toEqual(["a.ts:10 certain", "a.ts:9 certain"]);
  expect(await callersOf(FILES, "B.#load")).toEqual(["a.ts:23 certain"]);
  expect(await callersOf(FILES, "A.#make")).toEqual(["a.ts:11 certain"]);
  expect(await callersOf(FILES, "A.#size")).toEqual(["a.ts:14 certain"]);
  expect(await callersOf(FILES, "B.#size")).toEqual(["a.ts:13 name", "a.ts:14 name", "a.ts:24 name"]);
  expect(await callersOf(FILES, "A.load")).toEqual(["a.ts:12 certain", "b.js:2 certain"]);
});
