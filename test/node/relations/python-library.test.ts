import { expect, it } from "vitest";
import { callsIn } from "./support.ts";

const head = [
  "import copy, typing", // 1
  "from collections import deque",
  "from typing import Union, cast",
  "class Item:",
  "    def go(self): pass", // 5
  "class Other:",
  "    def go(self): pass",
  "class Conf:",
  "    all: list[Item]",
  "    by_name: dict[str, Item]", // 10
  "    pair: tuple[Item, Other]",
  "    twice: tuple[Item, ...]",
];

/** What `go` means on a line of a function. */
async function goOf(line: string): Promise<string[]> {
  const text = [...head, "def run(conf: Conf, key, *args: Item, **named: Item):", `    ${line}`].join("\n");
  const calls = await callsIn({ "app.py": text }, "app.py");
  return calls.filter((call) => call.startsWith("go@")).map((call) => call.replace(/^go@\d+ → (?:app\.py:)?/, ""));
}

it.each([
  "for i, each in enumerate(conf.all): each.go()",
  "for each in reversed(conf.all): each.go()",
  "for name, each in list(conf.by_name.items()): each.go()",
  "next(iter(conf.all)).go()",
  "sorted(conf.all, key=len)[0].go()",
  "max(conf.all, key=len).go()",
  "list(filter(None, conf.all))[0].go()",
  "first, second, *others = conf.all; first.go()",
  "first, second, *others = conf.all; second.go()",
  "kept = [each for each in conf.all if each]; kept[0].go()",
  "made = {i: Item() for i in range(3)}; made[1].go()",
  "made = {'a': Item(), 'b': Item()}; made['a'].go()",
  "queue = deque(conf.all); queue.popleft().go()",
  "args[0].go()",
  "named['a'].go()",
  "conf.all[1:][0].go()",
  "conf.twice[0].go()",
  "cast(Item, key).go()",
  "typing.cast('Item', key).go()",
  "copy.copy(args[0]).go()",
  "either: Union[Item, None] = key; either.go()",
])("the types of values go through Python's own functions: %s", async (line) => {
  expect(await goOf(line)).toEqual(["5"]);
});

it.each([
  "first, *others = conf.all; others.go()",
  "conf.pair[1].go()",
  "one, two = conf.pair; two.go()",
  "max(conf.all, conf.all).go()",
  "either: Union[Item, Other] = key; either.go()",
  "def list(a): pass\n    list(conf.all)[0].go()",
  "mixed = {'a': Item(), 'b': Other()}; mixed['a'].go()",
  "parts = [each.part for each in conf.all]; parts[0].go()",
])("and are not guessed: %s", async (line) => {
  const [found] = await goOf(line);
  expect(found).not.toMatch(/^\d/);
});
