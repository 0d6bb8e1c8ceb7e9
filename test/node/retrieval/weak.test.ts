import { beforeAll, describe, expect, it } from "vitest";
import { findSymbols } from "../../../src/engines/search/lookups.ts";
import { findReferences } from "../../../src/engines/search/references.ts";
import { search } from "../../../src/engines/search/search.ts";
import { openShop } from "./shop.ts";
import { coldIndex, textsOf } from "./support.ts";

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  shop = await openShop();
});
const ask = (query: string) => search(shop.index, { query }, shop.texts);

describe("an answer to which nothing matches well", () => {
  it.each([
    ["kubernetes pods beside a sidecar cart", ["kubernetes", "pods", "beside", "sidecar"]],
    ["quantum blockchain", ["quantum", "blockchain"]],
  ])("says so, names the words of %s that are nowhere, and shows no lines", async (query, unknown) => {
    const { weak, results } = await ask(query);
    expect(weak).toEqual({ unknown, files: shop.index.fileCount });
    expect(results.flatMap(({ excerpts }) => excerpts)).toEqual([]);
  });

  it.each([
    "Cart",
    "how is a discount applied",
    "src/cart/discount.ts kubernetes pods sidecar operator",
    "PaymentGateway of kubernetes pods and sidecars",
  ])("is not one to %s", async (query) => {
    const { weak, results } = await ask(query);
    expect(weak).toBeUndefined();
    expect(results[0]?.excerpts).not.toEqual([]);
  });
});

it("look-ups list folders of other people's code after the sources", async () => {
  const files = ["deps/lua/a.ts", "src/b.ts", "src/external/c.ts"].map((path) => ({
    path,
    language: "typescript",
    text: `export function lookUp() {\n  return "${path}";\n}\nlookUp();\n`,
    symbols: [{ name: "lookUp", startLine: 1, endLine: 3 }],
  }));
  const [index, texts] = [await coldIndex(files), textsOf(files)];
  const { symbols } = await findSymbols(index, { name: "lookUp" }, texts);
  expect(symbols.map(({ path }) => path)).toEqual(["src/b.ts", "src/external/c.ts", "deps/lua/a.ts"]);
  const { references } = await findReferences(index, { name: "lookUp" }, texts);
  expect(references.map(({ path }) => path)).toEqual(["src/b.ts", "src/external/c.ts", "deps/lua/a.ts"]);
});
