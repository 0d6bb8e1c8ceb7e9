import { expect, it } from "vitest";
import { isCalled } from "../../../src/interface/questions/relations/called-lines.ts";
import { callersOf } from "./support.ts";

it.each([
  ["price(1)", true],
  ["a price (1)", true],
  ["prices(1)", false],
  ["_price(1)", false],
  ["the price of it", false],
  ["<.price a={1}>", true],
  ["<Core.Ui.price />", true],
  ["<p>.price</p>", false],
  ["{{ item.price }}", true],
  ["{{ .Item.price }}", true],
  ["{{ item | price }}", true],
  ["{{ item|price:2 }}", true],
  ["{% price item %}", true],
  ["{%- price %}", true],
  ["{% if item.price > 2 %}", true],
  ["{{price item}}", true],
  ["{{#price item}}", true],
  ["{{ price }}", false],
  ["{{ item }} | price", false],
  ["{{ item.prices }}", false],
  ["{% if a %} b.price", false],
  ["{% load price %}", false],
])("%s", (line, called) => {
  expect(isCalled(line, "price")).toBe(called);
});

it("tags in MDX call components; names before a parenthesis are prose there", async () => {
  const files = {
    "card.tsx": "export function Card() {\n  return <p />;\n}\nexport function price() {}\n",
    "a.mdx":
      "import { Card } from './card'\n\nThe Card() is shown.\n\n<Card title=\"a\">price()</Card>\n<Docs.Card/> <CardList/>\n",
    "b.md": "<Card/>\n",
  };
  expect(await callersOf(files, "Card")).toEqual(["a.mdx:5 name", "a.mdx:6 name"]);
  expect(await callersOf(files, "price")).toEqual([]);
});
