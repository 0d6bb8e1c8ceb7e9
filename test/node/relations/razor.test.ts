import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { razorOf } from "../../../src/engines/parsing/razor.ts";
import { UsesIndex } from "../../../src/engines/relations/uses-index.ts";
import { findSymbols } from "../../../src/engines/search/lookups.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { callsIn, openedOf } from "./support.ts";

type Files = Readonly<Record<string, string>>;

async function callersOf(files: Files, name: string): Promise<string[]> {
  const { index, texts } = await openedOf(files);
  const uses = new UsesIndex(index, texts);
  const found = await new UsesFinder(uses, "callers").find(await uses.definitions(name), 1);
  return found.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`).sort();
}

/** Calls of the methods that the file has itself. */
async function callsInMarkup(markup: string): Promise<string[]> {
  const text = `${markup}\n@code {\n  int Price(int a) => a;\n  void Save() {}\n}\n`;
  const calls = await callsIn({ "a.razor": text }, "a.razor");
  return calls.filter((call) => call.includes("a.razor:")).map((call) => call.replace(/ → .*/, ""));
}

describe("calls in the markup of Razor", () => {
  it.each([
    ["values", '<p a="@Price(1)">@Price(2).ToString() x@Price(3) @@Price(4)</p>', ["Price@1", "Price@1"]],
    ["expressions", '@(Price(1) > 0 ? "a" : "b)")\n<p a="@(Price(2))b"/>', ["Price@1", "Price@2"]],
    ["conditions", "@if (Price(1) > 2)\n{ <p>Price(9)</p> }\nelse if (Price(2) > 0) {\n}", ["Price@1", "Price@3"]],
    [
      "what they hold",
      "@if (a) {\n <p>@Price(1)</p>\n @Price(2)\n Price(3);\n // <p>@Price(9)\n<b/> @: it's @Price(4)\n}\nPrice(9)",
      ["Price@2", "Price@3", "Price@4", "Price@6"],
    ],
    [
      "loops",
      "@foreach (var a in Price(1)) { }\n@switch (Price(2))\n{ case 1: <br>\n<p>@Price(3)</p> break; }",
      ["Price@1", "Price@2", "Price@4"],
    ],
    ["blocks", '@{\n  var a = Price(1);\n  <p class="it\'s">@Price(2)</p>\n}', ["Price@2", "Price@3"]],
    [
      "attributes of events",
      '<p @onclick="Save" @onchange="@Save"\n@oninput="() => Price(1)" @onblur="@(_ => Price(2))" onclick="Save" />',
      ["Save@1", "Save@1", "Price@2", "Price@2"],
    ],
    [
      "parameters of components",
      '<A OnClick="Save" Value="@Price(1)" Title="Save"\nMax="Price(2)" Of="a => Price(a)" />',
      ["Save@1", "Price@1", "Price@2", "Price@2"],
    ],
    ["markup as a value", "@Show(@<p>@Price(1)</p>, Price(2))", ["Price@1", "Price@1"]],
    [
      "no comments, scripts or text",
      "@* @Price(1) *@\n<!-- @Price(2) -->\n<script>if (a<b) Price(3)</script>\nPrice(4) a@Price(5) @@Price(6)",
      [],
    ],
    ["with names that are keywords", '@Show("a", new { @class = "b", c = Price(1) })', ["Price@1"]],
  ])("are %s", async (_, markup, calls) => {
    expect((await callsInMarkup(markup)).toSorted()).toEqual(calls.toSorted());
  });
});

const CART = "namespace Shop.Services;\npublic class Cart {\n  public void Add(int a) {}\n}\n";

describe("callers in files of Razor", () => {
  it("of a service go by the type of what is injected", async () => {
    const files = {
      "Cart.cs": CART,
      "Other.cs": CART.replaceAll("Cart", "Other"),
      "a.razor":
        "@using Shop.Services\n@inject Cart Basket\n\n@Basket.Add(1)\n@code {\n  void A() => Basket.Add(2);\n}\n",
      "b.cshtml": "@using Shop.Services\n@model Cart\n<p>@{ Model.Add(1); }</p>\n",
    };
    const { index, texts } = await openedOf(files);
    const uses = new UsesIndex(index, texts);
    const definition = (await uses.definitions("Add")).find(({ path }) => path === "Cart.cs");
    const found = await new UsesFinder(uses, "callers").find([definition!], 1);
    expect(found.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`)).toEqual([
      "a.razor:4 certain",
      "a.razor:6 certain",
      "b.cshtml:3 certain",
    ]);
  });

  it("see the namespaces that the files of imports name, and those of their folders", async () => {
    const files = {
      "src/Shop.csproj": "<Project />",
      "src/Cart.cs": CART,
      "src/Pages/Own.cs": "namespace Shop.Pages;\npublic class Own {\n  public void Add(int a) {}\n}\n",
      "src/_Imports.razor": "@using Shop.Services",
      "src/Pages/a.razor": "@inject Cart Cart\n@inject Own Own\n<p>@Cart.Add(1)</p>\n",
      "src/Pages/b.razor": "@inject Own Own\n<p>@Own.Add(1)</p>\n",
    };
    const { index, texts } = await openedOf(files);
    const uses = new UsesIndex(index, texts);
    for (const [path, caller] of [
      ["src/Cart.cs", "src/Pages/a.razor:3 certain"],
      ["src/Pages/Own.cs", "src/Pages/b.razor:2 certain"],
    ]) {
      const definitions = (await uses.definitions("Add")).filter((each) => each.path === path);
      const found = await new UsesFinder(uses, "callers").find(definitions, 1);
      expect(found.map((each) => `${each.path}:${each.line} ${each.certainty}`)).toEqual([caller]);
    }
  });

  it("are of the part of its class in another file, and of what it inherits", async () => {
    const files = {
      "A.razor": '@inherits Base\n<p @onclick="Save">@Load(1)</p>\n',
      "A.razor.cs": "public partial class A {\n  void Save() {}\n}\n",
      "Base.cs": "public class Base {\n  protected int Load(int a) => a;\n}\n",
    };
    expect(await callersOf(files, "Save")).toEqual(["A.razor:2 certain"]);
    expect(await callersOf(files, "Load")).toEqual(["A.razor:2 certain"]);
  });

  it("are of functions of its scripts", async () => {
    const files = { "a.js": "function openMenu() {}\n", "a.cshtml": '<a onclick="openMenu()">x</a>\n' };
    expect(await callersOf(files, "openMenu")).toEqual(["a.cshtml:1 name"]);
  });
});

describe("a file of Blazor is a component", () => {
  const CARD = "<b>\n</b>\n";

  it("with the name of the file", async () => {
    const { index, texts } = await openedOf({ "ui/Card.razor": CARD, "_Imports.razor": "", "Page.cshtml": CARD });
    const { symbols } = await findSymbols(index, { name: "Card" }, texts);
    expect(symbols).toMatchObject([{ path: "ui/Card.razor", kind: "component", startLine: 1, endLine: 2 }]);
    expect((await findSymbols(index, { name: "Page", kind: "component" }, texts)).symbols).toEqual([]);
  });

  it("which tags call", async () => {
    const files = {
      "ui/Card.razor": CARD,
      "a.razor": '<p>\n<Card Size="1" /></p>\n@if (a) {\n  <Shop.UI.Card></Shop.UI.Card>\n}\n<card />\n<Cards />\n',
      "b.razor": "@code {\n  void Show() {\n    <Card />\n  }\n}\n",
    };
    expect(await callersOf(files, "Card")).toEqual(["a.razor:2 likely", "a.razor:4 likely", "b.razor:3 likely"]);
  });

  it("or a class, if no file has the name", async () => {
    const files = { "Card.cs": "public class Card {}\n", "a.razor": "<Card />\n" };
    expect(await callersOf(files, "Card")).toEqual(["a.razor:1 certain"]);
  });

  it("that code names as the type of what is rendered, which is known by name", async () => {
    const files = {
      "Card.razor": "<p></p>\n",
      "Page.razor":
        '<RouteView T="Card" />\n@code {\n  void A() => D.ShowAsync<Card>(1);\n  List<Card> all = new List<Card>();\n}\n',
      "Test.cs": `class Test {
  void A() {
    ctx.RenderComponent<Card>();
    app.MapRazorComponents<Shop.Card> ();
    var type = typeof(Card).Assembly;
    Other<Cards>();
    Card card = null;
  }
}
`,
    };
    expect(await callersOf(files, "Card")).toEqual([
      "Page.razor:3 name",
      "Test.cs:3 name",
      "Test.cs:4 name",
      "Test.cs:5 name",
    ]);
  });
});

describe("the C# of a file", () => {
  const read = (text: string) => {
    const units = Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
    const { members, markup } = razorOf(text, units);
    return [members, markup].map((each) => String.fromCharCode(...each));
  };

  it("has the places that it has there", () => {
    expect(read('@inject A B\n<C @d="E">@F(1)</C>\n@code {\n  int g;\n}')).toEqual([
      "        A B\n;                  \nclass _\n{ int g;\n}",
      "           \n~C; _= E; !F(1);   \n       \n        \n ",
    ]);
  });

  it.each(["@code{\nint a;}", "@code\n{\n\n int a;}", "@functions {int a;}", "@code {int a;}"])(
    "has the members of %s in a class",
    (text) => {
      expect(read(text)[0]).toMatch(/class\s*_?\s*\{\s*int a;\}$/);
    },
  );

  it("has its lines, and nothing of the text", () => {
    const part = fc.constantFrom(
      ...'@ @( @{ @* *@ @if( ) } { ( ; : < > </p> <p> <A @code{ @using @model =" " \' // /* */ @: x .y \n'.split(" "),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const text = parts.join("");
        for (const code of read(text)) {
          expect(code).toHaveLength(text.length);
          for (let at = 0; at < text.length; at++) {
            expect(code[at] === "\n").toBe(text[at] === "\n");
            if (!/[\s_=;!~{}>clasuing]/.test(code[at]!)) expect(code[at]).toBe(text[at]);
          }
        }
      }),
    );
  });

  it.each([
    "@(",
    "@{",
    "@if(",
    "@if (a) {",
    "@a(",
    "@a.",
    "@code {",
    "@using a\n",
    "<p ",
    "<p>",
    '<A b="',
    "{ <p>",
    '@("',
    '@{ @"',
    "@{ /*",
    "@{ < ",
    "@{ } else ",
    "@*",
    "<script>",
    "<!--",
    "@",
    "@if ",
    "@code",
    " ",
    "@x(@<p>",
  ])("is found in linear time in many of %s", (part) => {
    const text = part.repeat(150_000);
    const units = new Uint16Array(text.length);
    const started = process.cpuUsage();
    razorOf(text, units);
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
  });
});
