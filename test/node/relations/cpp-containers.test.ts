import { expect, it } from "vitest";
import { callsIn } from "./support.ts";

const FILES = {
  "item.h":
    "class Item {\npublic:\n  Item();\n  void go();\n  Item& with(int x);\n  static Item create();\n};\nclass Other { public: void go(); };\n",
  "item.cpp": [
    '#include "item.h"',
    "Item::Item() {}",
    "void Item::go() {}", // 3
    "Item& Item::with(int x) { return *this; }",
    "Item Item::create() { return Item(); }",
    "void Other::go() {}",
    "std::vector<Item> many() { return {}; }",
    "std::pair<Other, Item> both() { return {}; }",
  ].join("\n"),
};

/** The lines on which `go` is known to be the one of `Item`, out of those that call it. */
async function known(lines: readonly string[]): Promise<{ known: string[]; not: string[] }> {
  const text = ['#include "item.h"', ...lines].join("\n");
  const calls = (await callsIn({ ...FILES, "main.cpp": text }, "main.cpp")).filter((call) => call.startsWith("go@"));
  const lineOf = (call: string): string => text.split("\n")[Number(/@(\d+)/.exec(call)?.[1]) - 1]?.trim() ?? "";
  const isItem = (call: string): boolean => call.endsWith("→ item.cpp:3");
  return { known: calls.filter(isItem).map(lineOf), not: calls.filter((call) => !isItem(call)).map(lineOf) };
}

it("values of optionals, pointers, arrays and bindings of C++ have the type that is written down", async () => {
  const lines = [
    "struct Holder {",
    "std::vector<Item> items; std::map<int, Item> map; std::map<Item, int> keys; std::optional<Item> opt; Item arr[3]; Item grid[3][3];",
    "std::weak_ptr<Item> weak; std::atomic<Item*> at; std::reference_wrapper<Item> ref; Item* raw;",
    "void run(std::shared_ptr<Item> sp, bool flag) {",
  ];
  const body = [
    "opt->go();",
    "opt.value().go();",
    "(*opt).go();",
    "if (auto i = opt) i->go();",
    "arr[0].go();",
    "for (auto& i : arr) i.go();",
    "Item local[3]; local[0].go();",
    "weak.lock()->go();",
    "if (auto s = weak.lock()) s->go();",
    "at.load()->go();",
    "ref.get().go();",
    "std::ref(*raw).get().go();",
    "sp.get()->go();",
    "for (auto& [k, v] : map) v.go();",
    "auto [other, item] = both(); item.go();",
    "items.emplace_back().go();",
  ];
  const not = [
    "opt.go();",
    "grid[0][0].go();",
    "for (auto& [k, v] : keys) k.go();",
    "for (auto& [k, v] : keys) v.go();",
    "auto [one, two] = both(); one.go();",
  ];
  expect(await known([...lines, ...body, ...not, "}", "};"])).toEqual({ known: body, not });
});

it("casts, library functions, results and lambdas of C++ tell types", async () => {
  const lines = [
    "template <typename K, typename T> struct Holder { T inner; K key; T get() { return inner; } };",
    "void run(std::vector<Item> items, Item& item, void* raw, bool flag, Holder<Other, Item> held) {",
  ];
  const body = [
    "auto made = Item{}; made.go();",
    "Item().with(1).go();",
    "Item::create().go();",
    "auto list = many(); list[0].go();",
    "for (auto& i : many()) i.go();",
    "static_cast<Item*>(raw)->go();",
    "if (auto* i = dynamic_cast<Item*>(raw)) i->go();",
    "((Item*)raw)->go();",
    "auto moved = std::move(item); moved.go();",
    "std::static_pointer_cast<Item>(raw)->go();",
    "auto chosen = flag ? Item() : item; chosen.go();",
    "std::for_each(items.begin(), items.end(), [](auto& i) { i.go(); });",
    "std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { b.go(); });",
    "auto at = std::find_if(items.begin(), items.end(), nothing); at->go();",
    "std::next(items.begin())->go();",
    "held.inner.go();",
    "held.get().go();",
  ];
  const not = [
    "std::accumulate(items.begin(), items.end(), [](auto sum) { sum.go(); });",
    "each(items, [](auto i) { i.go(); });",
    "move(item, 1).go();",
    "held.key.go();",
    "(flag ? Item() : Other()).go();",
  ];
  expect(await known([...lines, ...body, ...not, "}"])).toEqual({ known: body, not });
});

it("calls in the value of a structured binding of C++ are uses", async () => {
  const calls = await callsIn(
    { "a.cpp": "int f();\nint f() { return 1; }\nvoid g() {\n  auto [a, b] = f();\n}\n" },
    "a.cpp",
  );
  expect(calls).toEqual(["f@4 → a.cpp:2"]);
});
