import { expect, it } from "vitest";
import { isCalled } from "../../../src/interface/questions/relations/called-lines.ts";

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
