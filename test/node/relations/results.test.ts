import { expect, it } from "vitest";
import { callsIn } from "./support.ts";

const lines = (...all: string[]): string => all.join("\n");

it("is sure of results that agree, but not of those that another class may give", async () => {
  const app = lines(
    "class Item { go() {}", // 1
    "  self() { return this; }",
    "  static make() { return new this(); } }",
    "function maybe(a) { if (!a) return null; return a ? new Item() : new Item(); }",
    "function either(a) { return a ? new Item() : a.other; }",
    "function none(a) { return a; }",
    "maybe().go();", // 7
    "either().go();",
    "new Item().self().go();",
    "Item.make().go();",
    "none().go();",
  );
  const calls = await callsIn({ "app.js": app }, "app.js");
  expect(calls.filter((call) => call.startsWith("go@"))).toEqual([
    "go@7 → app.js:1",
    "go@8 → app.js:1 likely",
    "go@9 → app.js:1 likely",
    "go@10 → app.js:1 likely",
    "go@11 → unknown",
  ]);
});
