import { describe, expect, it } from "vitest";
import { symbolsText } from "../../../src/interface/mcp/answers.ts";
import { relationText } from "../../../src/interface/mcp/relation-answer.ts";
import type { IndexInfo } from "../../../src/interface/questions/code-index.ts";
import type { RelatedReference } from "../../../src/interface/questions/relations/answer.ts";

const INDEX: IndexInfo = { name: "shop", gitSha: null, indexedAtMs: 0, isWorkTree: false };
const OPTIONS = { nowMs: 0, maxTokens: 2_000 };

describe("find_symbol", () => {
  const answer = (match: string) => ({
    indexes: [INDEX],
    digest: "d",
    total: 1,
    match,
    symbols: [
      {
        revision: 0,
        name: "Cart",
        qualifiedName: "Cart",
        kind: "class",
        signature: "class Cart",
        path: "src/cart.ts",
        language: "typescript",
        startLine: 1,
        endLine: 9,
      },
    ],
  });
  const cart = "src/cart.ts:1-9  class Cart\n    class Cart\n\n1 definition.";

  it("says before other names that they are not the one that was asked for", () => {
    const head = "shop, indexed just now\n\nNo definition is named";
    expect(symbolsText(answer("fuzzy"), OPTIONS, { name: "Cart.total" })).toBe(
      `${head} Cart.total. Similar names:\n\n${cart}`,
    );
    expect(symbolsText(answer("prefix"), OPTIONS, { name: "Car" })).toBe(
      `${head} Car. Names that begin so:\n\n${cart}`,
    );
  });

  it("says nothing of the kind about the name itself, or names that were asked for so", () => {
    const all = `shop, indexed just now\n\n${cart}`;
    expect(symbolsText(answer("exact"), OPTIONS, { name: "Cart" })).toBe(all);
    expect(symbolsText(answer("prefix"), OPTIONS, { name: "Car", match: "prefix" })).toBe(all);
  });
});

describe("find_references with a relation", () => {
  it.each([
    ["callers", "1 use."],
    ["callees", "1 call."],
    ["implementations", "1 implementation."],
    ["importers", "1 import."],
  ] as const)("counts %s as what they are", (relation, counted) => {
    const references: RelatedReference[] = [
      {
        revision: 0,
        path: "src/a.ts",
        line: 3,
        text: "cart.total()",
        enclosing: null,
        certainty: "name",
        relation,
        distance: 1,
      },
    ];
    const answer = { indexes: [INDEX], digest: "d", references, total: 1, truncated: false };
    expect(relationText(answer, OPTIONS, { name: "total", relation })).toContain(`\n\n${counted} What goes through`);
  });
});
