import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { SyntaxEngine } from "../../../src/parsing/engine.ts";
import { nodeGrammars } from "../../../src/parsing/grammars-node.ts";
import { languageInfo } from "../../../src/parsing/detect.ts";
import { isLanguageId } from "../../../src/parsing/index.ts";
import type { SyntaxNode } from "../../../src/parsing/syntax-node.ts";

const folder = new URL("cases/", import.meta.url);

/** What the core itself gives, node by node. */
function* below(node: SyntaxNode): Generator<SyntaxNode> {
  for (const child of node.children) {
    yield child;
    yield* below(child);
  }
}

const facts = (node: SyntaxNode) => [node.id, node.type, node.start, node.end, node.row, node.column, node.alias];

it("the walk through the core's memory finds what the core gives, in every grammar", async () => {
  const engine = await SyntaxEngine.create(nodeGrammars());
  const grammars = new Set<string>();
  for (const file of readdirSync(folder)) {
    const language = file.replace(/(?:-\w+)?\.txt$/, "");
    if (!isLanguageId(language)) throw new Error(`${file} does not begin with a language.`);
    const name = languageInfo(language).grammar;
    if (name === undefined) continue;
    grammars.add(name);
    const grammar = await engine.grammar(name);
    // Whole cases, their expectations included: those are errors to the grammar.
    const text = `\n  ${readFileSync(new URL(file, folder), "utf8")}`;
    const units = Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
    const result = engine.parse(units, text, grammar);
    if (!result.ok) throw new Error(`${file}: ${result.reason}`);
    const visible = Uint8Array.from(grammar.types, (type, id) => (type !== undefined && grammar.isNamed[id] ? 1 : 0));
    const walked = result.tree.nodesOf(visible);
    const given = [...below(result.tree.root)].filter(({ typeId }) => visible[typeId] === 1);
    expect(walked.map(facts), file).toEqual(given.map(facts));
    expect(walked.length, file).toBeGreaterThan(20);
  }
  expect(grammars.size).toBe(20);
});
