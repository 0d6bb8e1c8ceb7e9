import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

const lines = (...all: string[]): string => all.join("\n");

/** The calls of `go`. */
const goes = async (files: Record<string, string>, path: string): Promise<string[]> =>
  (await callsIn(files, path)).filter((call) => call.startsWith("go@"));

describe("values that are written in different ways", () => {
  it("are of one type where all of them lead to it: TypeScript", async () => {
    const files = {
      "items.ts": lines(
        "export class Item { go() {} }", // 1
        "export class Other { go() {} }",
        "export function make(): Item {}",
        "export const byName = new Map<string, Item>();",
      ),
      "app.ts": lines(
        'import { byName, Item, make, Other } from "./items.ts";', // 1
        'import { foreign } from "foreign";',
        "function run(given) {",
        "  let one = byName.get('a'); if (!one) one = new Item(); one.go();", // 4
        "  let two = make(); two = new Item(); two = byName.get('a'); two.go();",
        "  let three = make(); three = new Other(); three.go();", // 6
        "  let four = foreign(); four = new Item(); four.go();",
        "  let five = make(); five = given; five = new Item(); five.go();", // 8
        "  const six = given ? make() : new Item(); six.go();",
        "  let list = Array.from(byName.values()); list = new Item(); list.go();", // 10
        "  either(given).go(); neither(given).go();",
        "}",
        "function either(given) { if (given) return make(); return new Item(); }", // 13
        "function neither(given) { if (given) return new Other(); return make(); }",
        "class Holder { held = make(); reset() { this.held = new Item(); this.held.go(); } }", // 15
      ),
    };
    expect(await goes(files, "app.ts")).toEqual([
      "go@4 → items.ts:1",
      "go@5 → items.ts:1",
      "go@6 → unknown",
      "go@7 → unknown",
      "go@8 → items.ts:1 likely",
      "go@9 → items.ts:1",
      "go@10 → unknown",
      "go@11 → items.ts:1",
      "go@11 → items.ts:2 likely",
      "go@15 → items.ts:1",
    ]);
  });

  it("are of one type where all of them lead to it: Python", async () => {
    const files = {
      "items.py": lines(
        "class Item:", // 1
        "    def go(self): pass",
        "class Other:",
        "    def go(self): pass",
        "def make():", // 5
        "    return Item()",
      ),
      "app.py": lines(
        "from items import Item, Other, make", // 1
        "def run(flag):",
        "    one = make()",
        "    if flag:",
        "        one = Item()", // 5
        "    one.go()",
        "    two = make()",
        "    if flag:",
        "        two = Other()",
        "    two.go()", // 10
        "class Holder:",
        "    def __init__(self):",
        "        self.held = None",
        "    def open(self):",
        "        self.held = make()", // 15
        "    def reopen(self):",
        "        self.held = Item()",
        "        self.held.go()",
      ),
    };
    expect(await goes(files, "app.py")).toEqual(["go@6 → items.py:2", "go@10 → unknown", "go@18 → items.py:2"]);
  });
});
