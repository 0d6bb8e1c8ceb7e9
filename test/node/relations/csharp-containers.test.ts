import { expect, it } from "vitest";
import { callsIn } from "./support.ts";

const callsOf = async (name: string, files: Record<string, string>, path: string): Promise<string[]> =>
  (await callsIn(files, path)).filter((call) => call.startsWith(`${name}@`));

it("values that containers of C# hold have the type that is written down", async () => {
  const files = {
    "Item.cs": "namespace Shop;\npublic class Item { public void Go() {} }\n",
    "Own.cs":
      "namespace Shop;\npublic class Queue<T> {\n  public Other Peek() => null;\n}\npublic class Other { public void Go() {} }\n",
    "Run.cs": [
      "using System.Collections.Generic;", // 1
      "namespace Shop;",
      "class Run {",
      "  Dictionary<string, Item> _byName = new();",
      "  List<Item> _list = [];", // 5
      "  void All(string key, Item item, bool flag) {",
      "    _byName[key].Go();", // 7
      "    foreach (var each in _byName.Values) each.Go();",
      "    foreach (var (name, each) in _byName) each.Go();",
      "    foreach (var pair in _byName) pair.Value.Go();", // 10
      "    if (_byName.TryGetValue(key, out var found)) found.Go();",
      "    _list.Where(each => each != null).First().Go();",
      "    _list.ForEach(each => each.Go());", // 13
      "    var own = new List<Item>(); own[0].Go();",
      "    System.Collections.Generic.List<Item> whole = new(); whole[0].Go();",
      "    var array = new Item[3]; array[0].Go();", // 16
      "    (item ??= new Item()).Go();",
      "    var either = item ?? new Item(); either.Go();",
      "    var one = flag ? new Item() : item; one.Go();", // 19
      "    Item made = new(); made.Go();",
      "    new Queue<Item>().Peek().Go();", // 21
      "    _byName.Go();",
      "    foreach (var (name, each) in _byName) name.Go();",
      "    if (Parse(key, out var none)) none.Go();", // 24
      "    _list.Max(each => 1).Go();",
      "  }",
      "}",
    ].join("\n"),
  };
  expect(await callsOf("Go", files, "Run.cs")).toEqual([
    ...[7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20].map((line) => `Go@${line} → Item.cs:2`),
    "Go@21 → Own.cs:5",
    ...[22, 23, 24, 25].map((line) => `Go@${line} → unknown`),
  ]);
});

it("constructors of C# say what they hand to lambdas", async () => {
  const files = {
    "Conf.cs": [
      "using System;", // 1
      "public interface IConf { void Map(); }",
      "public class Conf { public Conf(Action<IConf> configure) {} }",
      "public class Use {",
      "  Conf Make() => new(each => each.Map());", // 5
      "  Conf _field = new(each => { each.Map(); });",
      "  void Run() {",
      "    var one = new Conf(each => each.Map());", // 8
      "    Conf two = new(each => each.Map());",
      "    Other(new(each => each.Map()));", // 10
      "  }",
      "}",
    ].join("\n"),
  };
  expect(await callsOf("Map", files, "Conf.cs")).toEqual([
    ...[5, 6, 8, 9].map((line) => `Map@${line} → Conf.cs:2`),
    "Map@10 → unknown",
  ]);
});
