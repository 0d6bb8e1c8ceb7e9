import { describe, expect, it } from "vitest";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { callsIn, indexOf } from "./support.ts";

it("a member of C# may have the name of its type", async () => {
  const files = {
    "Cart.cs": "namespace Shop;\npublic class Cart {\n  public void Add(int a) {}\n}\n",
    "a.cs":
      "namespace Shop;\npartial class A {\n  public Cart Cart { get; set; }\n  Cart own;\n  void F() { Cart.Add(1); own.Add(2); }\n  void G(Cart Cart) {\n    Cart.Add(3);\n  }\n}\n",
  };
  const calls = await callsIn(files, "a.cs");
  expect(calls).toEqual(["Add@5 → Cart.cs:3", "Add@5 → Cart.cs:3", "Add@7 → Cart.cs:3"]);
});

describe("C#", () => {
  const files = {
    "src/Store.cs": [
      "using System;",
      "namespace App.Stores",
      "{",
      "  public abstract class Base : IDisposable {",
      "    protected virtual void Log() { }",
      "    public void Over(int one) { }",
      "    public void Over(string one) { }",
      "  }",
      "  public partial class Store : Base {",
      "    public Item First { get; set; }",
      "    public static Store Open() { return new Store(); }",
      "    public Store Put(Item one, int two = 2) => this;",
      "    public Task<Item> Find<T>() where T : Item { T found = null; found.Run(); return null; }",
      "    public class Inner { public void Run() { } }",
      "    protected override void Log() { base.Log(); }",
      "  }",
      "  public class Store<T> { public void Typed() { } }",
      "  public class Item { public void Run() { } }",
      "}",
    ].join("\n"),
    "src/Store.More.cs":
      "namespace App.Stores;\npartial class Store {\n  public void More() { Put(null); Log(); }\n}\n",
    "src/Other.cs": "namespace App { class Item { public void Run() { } } class MarkAttribute { } }\n",
    "src/App.cs": [
      "using App.Stores;",
      "using Thing = App.Stores.Item;",
      "namespace App.Main;",
      "[Mark]",
      "class App {",
      "  private readonly Store _store = new Store();",
      "  private Store<int> _typed;",
      "  public App(Item item, Thing thing) { item.Run(); thing.Run(); }",
      "  public async void Run(object any, Store[] all) {",
      "    _store.Put(null).Put(null, 1);",
      "    this._store?.First.Run();",
      "    _store.More();",
      "    _store.Over(1);",
      "    _typed.Typed();",
      "    var made = Store.Open();",
      "    made.Log();",
      "    (await made.Find()).Run();",
      "    if (any is Store known) known.Put(null);",
      "    ((Store)any).Put(null);",
      "    foreach (var each in all) each.Put(null);",
      "    foreach (Store each in all) each.Put(null);",
      "    Local(1);",
      "    void Local(int one) { Run(one, all); }",
      "    Stores.Store.Inner inner = null;",
      "    Store.Inner other = null;",
      "    other.Run();",
      "    Func<Item, int> f = item => item.Run();",
      "    Missing();",
      "  }",
      "}",
    ].join("\n"),
  };

  it("follows namespaces, using directives, parts of classes, members and overloads by the number of arguments", async () => {
    const own = "src/Store.cs";
    const app = "src/App.cs";
    expect(await callsIn(files, app)).toEqual([
      "MarkAttribute@4 → src/Other.cs:1",
      `Store@6 → ${own}:9`,
      "Run@8 → src/Other.cs:1",
      `Run@8 → ${own}:18`,
      `Put@10 → ${own}:12`,
      `Put@10 → ${own}:12`,
      `Run@11 → ${own}:18`,
      "More@12 → src/Store.More.cs:3",
      `Over@13 → ${own}:6 | ${own}:7`,
      `Typed@14 → ${own}:17`,
      `Open@15 → ${own}:11`,
      `Log@16 → ${own}:15`,
      `Run@17 → ${own}:18`,
      `Find@17 → ${own}:13`,
      `Put@18 → ${own}:12`,
      `Put@19 → ${own}:12`,
      "Put@20 → src/Store.cs:12",
      `Put@21 → ${own}:12`,
      `Local@22 → ${app}:23`,
      `Run@23 → ${app}:9`,
      `Run@26 → ${own}:14`,
      "Run@27 → src/Other.cs:1",
      "Missing@28 → unknown",
    ]);
    expect(await callsIn(files, own)).toEqual([
      "IDisposable@4 → outside",
      `Base@9 → ${own}:4`,
      `Store@11 → ${own}:9`,
      `Run@13 → ${own}:18`,
      `Log@15 → ${own}:5`,
    ]);
    expect(await callsIn(files, "src/Store.More.cs")).toEqual([`Put@3 → ${own}:12`, `Log@3 → ${own}:15`]);
  });

  it("knows what methods hand to lambdas by the delegates that they take", async () => {
    const lambdas = {
      "src/Lib.cs": [
        "namespace Lib;",
        "public class Item { public void Run() { } }",
        "public class Other { public void Run() { } }",
        "public class Builder {",
        "  public Builder With(string name, Action<Item> configure) => this;",
        "  public void Pick(Func<Item, Other, bool> by) { }",
        "  public void Find(System.Linq.Expression<Func<Item, bool>>? by) { }",
        "  public void On(Action<Item> done) { }",
        "  public void On(Func<Item, Task> done) { }",
        "  public void Two(Action<Item> done) { }",
        "  public void Two(Action<Other> done) { }",
        "  public void Any<T>(Action<T> done) { }",
        "  public void Bound<T>(Action<T> done) where T : Item { }",
        "}",
        "public static class Extensions {",
        "  public static void Each(this Builder builder, Predicate<Item> by) { }",
        "}",
      ].join("\n"),
      "src/Use.cs": [
        "using Lib;",
        "class Use {",
        "  void Run(Builder builder) {",
        '    builder.With("a", item => item.Run()).With("b", (item) => { item.Run(); });',
        "    builder.Pick((item, other) => item.Run() && other.Run());",
        "    builder.Find(item => item.Run());",
        "    builder.On(item => item.Run());",
        "    builder.Two(item => item.Run());",
        "    builder.Any(item => item.Run());",
        "    builder.Bound(item => item.Run());",
        "    builder.Each(item => item.Run());",
        '    builder.With(configure: item => item.Run(), name: "c");',
        "    builder.On((Other item) => item.Run());",
        "    void Local(Action<Other> of) { }",
        "    Local(delegate(Item item) { item.Run(); });",
        "    Local(item => item.Run());",
        "  }",
        "}",
      ].join("\n"),
    };
    const lib = "src/Lib.cs";
    const runs = (await callsIn(lambdas, "src/Use.cs")).filter((call) => call.startsWith("Run@"));
    expect(runs).toEqual([
      `Run@4 → ${lib}:2`,
      `Run@4 → ${lib}:2`,
      `Run@5 → ${lib}:2`,
      `Run@5 → ${lib}:3`,
      `Run@6 → ${lib}:2`,
      `Run@7 → ${lib}:2 likely`,
      "Run@8 → unknown",
      "Run@9 → unknown",
      `Run@10 → ${lib}:2`,
      `Run@11 → ${lib}:2 likely`,
      "Run@12 → unknown",
      `Run@13 → ${lib}:3`,
      `Run@15 → ${lib}:2`,
      `Run@16 → ${lib}:3`,
    ]);
  });

  it("knows extension methods of namespaces that are used, where the type has no method of the name", async () => {
    const extensions = {
      "src/Query.cs": [
        "using System.Data;",
        "namespace Shop.Data;",
        "public static class Query {",
        "  public static int Fetch(this IDbConnection db, string sql, object args = null) => 1;",
        "  public static int Fetch(this IDbConnection db, int id) => 1;",
        "  public static T First<T>(this Store store) => default;",
        "  public static void Close(this Store store) { }",
        "}",
      ].join("\n"),
      "src/Store.cs": "namespace Shop;\npublic class Store {\n  public void Close() { }\n}\n",
      "src/Other.cs": "namespace Shop.Other;\npublic class Other {\n  public void First() { }\n}\n",
      "src/Use.cs": [
        "using Shop.Data;",
        "namespace Shop;",
        "class Use {",
        "  void Run(DbConnection db, Store store, object any) {",
        '    db.Fetch("a", 2);',
        "    db.Fetch(1);",
        "    store.First<int>();",
        "    store.Close();",
        "    made.First<int>();",
        "    made.Fetch(1, 2);",
        "    new Other().First();",
        "  }",
        "}",
      ].join("\n"),
      "src/None.cs": "namespace Shop;\nclass None {\n  void Run(DbConnection db) { db.Fetch(1, 2); }\n}\n",
    };
    expect(await callsIn(extensions, "src/Use.cs")).toEqual([
      "Fetch@5 → src/Query.cs:4 likely",
      "Fetch@6 → src/Query.cs:4 | src/Query.cs:5 likely",
      "First@7 → src/Query.cs:6 likely",
      "Close@8 → src/Store.cs:3",
      "First@9 → outside",
      "Fetch@10 → src/Query.cs:4 likely",
      "First@11 → outside",
      "Other@11 → outside",
    ]);
    expect(await callsIn(extensions, "src/None.cs")).toEqual(["Fetch@3 → outside"]);
  });

  it("knows the extension of what a class inherits from in another of its parts, also of extensions of one name in several classes", async () => {
    const extensions = {
      "src/Wraps.cs":
        "namespace Shop;\npublic static class Wraps {\n  public static int Wrap(this IPolicy outer, int inner) => 1;\n}\n",
      "src/Others.cs":
        "namespace Shop;\npublic static class Others {\n  public static int Wrap(this Other outer, int inner) => 1;\n}\n",
      "src/Other.cs": "namespace Shop;\npublic class Other { }\n",
      "src/IPolicy.cs": "namespace Shop;\npublic interface IPolicy { }\n",
      "src/Policy.cs": "namespace Shop;\npublic partial class Policy {\n  void Run() { }\n}\n",
      "src/Policy.More.cs": "namespace Shop;\npublic partial class Policy : IPolicy { }\n",
      "src/Use.cs":
        "namespace Shop;\nclass Use {\n  void Run(Policy policy, Other other) {\n    policy.Wrap(1);\n    other.Wrap(1);\n  }\n}\n",
    };
    expect(await callsIn(extensions, "src/Use.cs")).toEqual([
      "Wrap@4 → src/Wraps.cs:3 likely",
      "Wrap@5 → src/Others.cs:3 likely",
    ]);
  });

  it("knows inherited members, and those of other parts of a class, by their names alone", async () => {
    const inherited = {
      "Base.cs": "namespace Shop;\npublic class Base {\n  protected Store store;\n  public Store Main { get; }\n}\n",
      "Store.cs":
        "namespace Shop;\npublic class Store {\n  public void Put() { }\n  public static void Open() { }\n}\n",
      "Part.cs": "namespace Shop;\npartial class Own {\n  private Store other;\n}\n",
      "Own.cs": [
        "namespace Shop;",
        "partial class Own : Base {",
        "  void Run(object main) {",
        "    store.Put();",
        "    Main.Put();",
        "    other.Put();",
        "    Store.Open();",
        "    main.Put();",
        "    System.Put();",
        "  }",
        "}",
      ].join("\n"),
    };
    expect(await callsIn(inherited, "Own.cs")).toEqual([
      "Base@2 → Base.cs:2",
      "Put@4 → Store.cs:3",
      "Put@5 → Store.cs:3",
      "Put@6 → Store.cs:3",
      "Open@7 → Store.cs:4",
      "Put@8 → unknown",
      "Put@9 → outside",
    ]);
  });

  it("knows types that another part of a class holds", async () => {
    const parts = {
      "A.cs": "namespace Shop;\npublic partial class A {\n  private class Inner {\n    public void Run() { }\n  }\n}\n",
      "B.cs":
        "namespace Shop;\npublic partial class A : Base {\n  void Go(Inner inner) {\n    inner.Run();\n    new Inner().Run();\n    new Outer().Run();\n  }\n}\n",
      "C.cs": "namespace Shop;\npublic class Outer {\n  public void Run() { }\n}\npublic class Base { }\n",
    };
    expect(await callsIn(parts, "B.cs")).toEqual([
      "Base@2 → C.cs:5",
      "Run@4 → A.cs:4",
      "Run@5 → A.cs:4",
      "Inner@5 → A.cs:3",
      "Run@6 → C.cs:3",
      "Outer@6 → C.cs:2",
    ]);
  });

  it("reads using directives in a namespace from there, and names the overloads of which a call means one", async () => {
    const files = {
      "Wrappers.cs":
        "namespace Shop.Wrappers;\npublic class Wrapper {\n  public void Send(int one) { }\n  public void Send(string one) { Send(1); }\n}\n",
      "Use.cs":
        "namespace Shop\n{\n  using Wrappers;\n  class Use {\n    void Run(Wrapper to) { to.Send(2); }\n  }\n}\n",
    };
    expect(await callsIn(files, "Use.cs")).toEqual(["Send@5 → Wrappers.cs:3 | Wrappers.cs:4"]);
    const index = await indexOf(files);
    const callers = async (definitions: Awaited<ReturnType<typeof index.definitions>>) =>
      (await new UsesFinder(index, "callers").find(definitions, 1)).map(
        ({ path, certainty }) => `${path} ${certainty}`,
      );
    const all = await index.definitions("Send");
    expect(await callers(all)).toEqual(["Use.cs likely", "Wrappers.cs likely"]);
    // One of them is not guessed.
    expect(await callers(all.slice(0, 1))).toEqual(["Use.cs name", "Wrappers.cs name"]);
  });

  it("takes a call of an interface's overloads for one of those that implement them", async () => {
    const index = await indexOf({
      "I.cs": "interface ISender {\n  void Send(int one);\n  void Send(string one);\n}\n",
      "A.cs": "class Sender : ISender {\n  public void Send(int one) { }\n  public void Send(string one) { }\n}\n",
      "Use.cs": "class Use {\n  void Run(ISender to) {\n    to.Send(2);\n  }\n}\n",
    });
    const own = (await index.definitions("Send")).filter(({ path }) => path === "A.cs");
    const found = await new UsesFinder(index, "callers").find(own, 1);
    expect(found.map(({ path, line, certainty, target }) => [path, line, certainty, target?.line])).toEqual([
      ["Use.cs", 3, "likely", 2],
    ]);
  });

  it.each([
    ["classes that extend each other", "class A : B { } class B : A { void M() { None(); } }"],
    ["overloads", `class A { ${"void F(int a) { } ".repeat(3_000)} void G() { F(1); } }`],
    ["parameters with defaults", `class A { void F(${"int a = 1, ".repeat(3_000)}int b = 2) { F(); } }`],
    [
      "extensions",
      `static class A { ${"static void F(this A a, int b = 1) { } ".repeat(3_000)} void G() { x.F(1); } }`,
    ],
    ["deep expressions", `class A { int F() { return ${"(".repeat(2_000)}F()${")".repeat(2_000)}; } }`],
    ["deep branches", `class A { ${"\n#if X\n".repeat(2_000)} void F() { F(); } ${"\n#endif\n".repeat(2_000)} }`],
  ])("bounds what it reads: %s", async (_, text) => {
    await expect(callsIn({ "a.cs": `${text}\n` }, "a.cs")).resolves.toBeInstanceOf(Array);
  });
});
