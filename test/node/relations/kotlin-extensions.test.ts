import { describe, expect, it } from "vitest";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { callsIn, indexOf } from "./support.ts";

const LIB = [
  "package lib",
  "class Item { fun run() {} ; fun own() {} }",
  "class Box { fun put(item: Item) {} ; fun run() {} }",
  "fun Item.twice(): Item = this",
  "fun Box.twice() {}",
  "fun String.shout() {}",
  "fun <T> T.also2(block: (T) -> Unit): T = this",
  "fun build(block: Item.() -> Unit) {}",
  "fun Box.fill(block: Item.() -> Unit) {}",
  "fun both(block: Item.(Box) -> Unit) {}",
  "typealias Setup = Item.() -> Unit",
  "fun setUp(block: Setup) {}",
  "class Price {",
  "  fun show() {}",
  "  companion object {",
  "    operator fun invoke(a: Int): Price = Price()",
  "    operator fun invoke(a: Int, b: Int): Item = Item()",
  "  }",
  "}",
  "class Plain(a: Int) {",
  "  companion object {",
  "    operator fun invoke(a: Int): Item = Item()",
  "    operator fun invoke(a: Int, b: Int): Item = Item()",
  "  }",
  "  fun show() {}",
  "}",
  "object Maker {",
  "  operator fun invoke(): Item = Item()",
  "}",
  "class Named(a: String) {",
  "  companion object Factory {",
  "    operator fun invoke(): Item = Item()",
  "  }",
  "}",
].join("\n");

const calls = (lines: readonly string[], more: Record<string, string> = {}) =>
  callsIn(
    { "lib/Lib.kt": LIB, "app/App.kt": ["package app", "import lib.*", ...lines].join("\n"), ...more },
    "app/App.kt",
  );

describe("Kotlin", () => {
  it("follows extensions that a star import brings", async () => {
    expect(
      await calls([
        "fun go(item: Item, box: Box, any: Any) {",
        "  item.twice().run()",
        "  box.twice()",
        '  "a".shout()',
        "  any.twice()",
        "}",
      ]),
    ).toEqual([
      "run@4 → lib/Lib.kt:2",
      "twice@4 → lib/Lib.kt:4",
      "twice@5 → lib/Lib.kt:5",
      "shout@6 → lib/Lib.kt:6",
      "twice@7 → outside",
    ]);
  });
  it("follows extensions of one name that several files of a package define, by what they extend", async () => {
    const more = {
      "lib/More.kt":
        "package lib\nfun Int.twice() {}\nclass Held { fun twice() {} }\nfun Item.done(a: Int): Item = this\n",
      "lib/Others.kt": "package lib\nfun Long.twice() {}\nfun Item.done(a: String): Item = this\n",
    };
    const go = [
      "fun go(item: Item, box: Box, any: Any) {",
      "  item.twice()",
      "  box.twice()",
      "  any.twice()",
      "  item.done(1).run()",
      "}",
    ];
    const found = ["twice@4 → lib/Lib.kt:4", "twice@5 → lib/Lib.kt:5", "twice@6 → outside"];
    const done = ["run@7 → lib/Lib.kt:2", "done@7 → lib/More.kt:4 | lib/Others.kt:3"];
    expect(await calls(go, more)).toEqual([...found, ...done]);
    expect(await calls(["import lib.twice", ...go], more)).toEqual(
      [...found, ...done].map((each) => each.replace(/@\d/, (line) => `@${Number(line.slice(1)) + 1}`)),
    );
  });
  it("knows the receiver of a lambda", async () => {
    expect(
      await calls([
        "fun go(box: Box) {",
        "  build { run(); twice(); this.own() }",
        "  box.fill { run() }",
        "  both { run(); it.put(this) }",
        "  setUp { run() }",
        "  build { box.run() }",
        "}",
        "class App { fun run() {} ; fun go() { build { run() } ; build { this@App.run() } } }",
      ]),
    ).toEqual([
      "build@4 → lib/Lib.kt:8",
      "run@4 → lib/Lib.kt:2",
      "twice@4 → lib/Lib.kt:4",
      "own@4 → lib/Lib.kt:2",
      "fill@5 → lib/Lib.kt:9",
      "run@5 → lib/Lib.kt:2",
      "both@6 → lib/Lib.kt:10",
      "run@6 → lib/Lib.kt:2",
      "put@6 → lib/Lib.kt:3",
      "setUp@7 → lib/Lib.kt:12",
      "run@7 → lib/Lib.kt:2",
      "build@8 → lib/Lib.kt:8",
      "run@8 → lib/Lib.kt:3",
      "build@10 → lib/Lib.kt:8",
      "run@10 → lib/Lib.kt:2 likely",
      "build@10 → lib/Lib.kt:8",
      "run@10 → app/App.kt:10",
    ]);
  });
  it("takes a call of an object or class for its invoke, unless a constructor fits", async () => {
    expect(
      await calls([
        "fun go() {",
        "  Price(1).show()",
        "  Price(1, 2).run()",
        "  Plain(1).show()",
        "  Plain(1, 2).run()",
        "  Maker().run()",
        "  Named().run()",
        "}",
      ]),
    ).toEqual([
      "show@4 → lib/Lib.kt:14",
      "Price@4 → lib/Lib.kt:16",
      "run@5 → lib/Lib.kt:2",
      "Price@5 → lib/Lib.kt:17",
      "show@6 → lib/Lib.kt:25",
      "Plain@6 → lib/Lib.kt:20",
      "run@7 → lib/Lib.kt:2",
      "Plain@7 → lib/Lib.kt:23",
      "run@8 → lib/Lib.kt:2",
      "Maker@8 → lib/Lib.kt:28",
      "run@9 → lib/Lib.kt:2",
      "Named@9 → lib/Lib.kt:32",
    ]);
  });

  it("finds the callers of invoke by the name of its object or class", async () => {
    const main = "package app\nimport lib.*\nfun go() {\n  Price(1)\n  Maker()\n  Plain(1)\n}\n";
    const files = await indexOf({ "lib/Lib.kt": LIB, "app/App.kt": main });
    const invokes = (await files.definitions("invoke")).filter(({ startLine }) => startLine === 16 || startLine === 28);
    const uses = await new UsesFinder(files, "callers").find(invokes, 1);
    const calls = uses.filter(({ path }) => path === "app/App.kt");
    expect(calls.map(({ line, target }) => `${line} → ${target?.line}`)).toEqual(["4 → 16", "5 → 28"]);
  });
});
