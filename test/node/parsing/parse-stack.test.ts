import { expect, it } from "vitest";
import { SyntaxEngine, workBudget } from "../../../src/engines/parsing/engine.ts";
import { nodeGrammars } from "../../../src/engines/parsing/grammars-node.ts";
import { MAX_DEPTH, ParseStack } from "../../../src/engines/parsing/parse-stack.ts";

const engine = await SyntaxEngine.create(nodeGrammars());
const javascript = await engine.grammar("javascript");
const typescript = await engine.grammar("typescript");

/** What parsing a text uses up of the budget of errors times depth, and whether it has a tree. */
function cost(text: string, grammar = javascript): { errorDepth: number; ok: boolean } {
  const units = Uint16Array.from(text, (character) => character.charCodeAt(0));
  const budget = workBudget(units.length);
  const { errorDepth } = budget;
  const { ok } = engine.parse(units, text, grammar, budget);
  return { errorDepth: errorDepth - budget.errorDepth, ok };
}

it("counts nothing without errors, however deep the stack is", () => {
  expect(cost("a = 1;\n".repeat(1_000))).toEqual({ errorDepth: 0, ok: true });
  expect(cost(`${"-".repeat(5_000)}1`)).toEqual({ errorDepth: 0, ok: true });
});

it("counts errors by the depth of the stack at them", () => {
  const flat = cost("a = 1 @;\n".repeat(500));
  expect(flat.ok).toBe(true);
  expect(flat.errorDepth).toBeGreaterThan(500);
  expect(flat.errorDepth).toBeLessThan(20_000);
  // On average a quarter of the text's characters are open at an error.
  const nested = cost("->".repeat(500));
  expect(nested.ok).toBe(true);
  expect(nested.errorDepth).toBeGreaterThan(100_000);
});

it("counts only what is dense: overloads that are misread pile up on the stack and cost nothing", () => {
  const overload = `  <
    P extends string,
    R extends Response<any> = any,
    I extends Input = None,
    E2 extends Env = E,
  >(
    path: P,
    ...handlers: [H<E2, Merged, I>, H<E3, Merged, I2, R>]
  ): Base<Both<[E, E2, E3]>, S & ToSchema<M, Merge<Path, P>, I2, R>, Path>

`;
  const { errorDepth, ok } = cost(`export interface A {\n${overload.repeat(200)}}\n`, typescript);
  expect(ok).toBe(true);
  expect(errorDepth).toBeGreaterThan(1_000);
  // Of all nodes it would be ten times as many.
  expect(errorDepth).toBeLessThan(40_000);
});

it("gives up a stack that is too deep, although there is no error", () => {
  const signs = (count: number) => cost(`${"-\n".repeat(count)}1`);
  expect(signs(MAX_DEPTH / 2)).toEqual({ errorDepth: 0, ok: true });
  expect(signs(MAX_DEPTH * 2)).toEqual({ errorDepth: Infinity, ok: false });
});

it("refuses a core whose stack it does not find", () => {
  expect(() => new ParseStack(new Int32Array(1_000), 16)).toThrow("not known");
});
