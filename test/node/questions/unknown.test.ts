import { expect, it } from "vitest";
import { impactOf } from "../../../src/interface/questions/impact/impact.ts";
import { path, references, symbols } from "../../../src/interface/questions/questions.ts";
import { indexesOf } from "../relations/support.ts";

const FILES = {
  "src/a.ts":
    "\nclass Store {\n  size = 0;\n  close(): void {\n    stop(10);\n  }\n}\n\n\nfunction stop(n: number) {}\n",
};

it.each([
  ["src/a.ts:5", "Store.close, Store"],
  ["./src/a.ts:3:2", "Store.size, Store"],
  // Around these lines nothing is defined, so the nearest comes first.
  ["src/a.ts:9", "stop, Store, Store.close, Store.size"],
  ["src/a.ts:100", "stop, Store, Store.close, Store.size"],
])("a place instead of a name, %s, is answered with the definitions there", async (name, near) => {
  const indexes = await indexesOf(FILES);
  const text = `must be a name, not a place: ${name}; defined there: ${near}`;
  for (const relation of ["callers", "callees", "implementations", undefined] as const)
    await expect(references.answer(indexes, { name, relation, limit: 5 })).rejects.toThrow(`name: ${text}`);
  await expect(symbols.answer(indexes, { name, limit: 5 })).rejects.toThrow(`name: ${text}`);
  await expect(impactOf(indexes, { name, depth: 1, limit: 5, maxTokens: 1000 })).rejects.toThrow(`name: ${text}`);
  await expect(path.answer(indexes, { from: name, to: "stop", limit: 1 })).rejects.toThrow(`from: ${text}`);
  await expect(path.answer(indexes, { from: "stop", to: name, limit: 1 })).rejects.toThrow(`to: ${text}`);
});

it("a place in a file that the index does not have is a name like any other", async () => {
  const indexes = await indexesOf(FILES);
  const unknown = references.answer(indexes, { name: "src/b.ts:5", relation: "callers", limit: 5 });
  await expect(unknown).rejects.toThrow("name: nothing in the index is named src/b.ts:5");
});

it("an unknown name of a path is told by its field", async () => {
  const indexes = await indexesOf(FILES);
  const unknown = path.answer(indexes, { from: "stop", to: "clos", limit: 1 });
  await expect(unknown).rejects.toThrow("to: nothing in the index is named clos; similar: Store.close");
});

it("an unknown member is answered with its scope where nothing is named alike", async () => {
  const indexes = await indexesOf(FILES);
  const text = "name: nothing in the index is named Store.drainAll; similar: Store";
  await expect(symbols.answer(indexes, { name: "Store.drainAll", limit: 5 })).rejects.toThrow(text);
  await expect(references.answer(indexes, { name: "Store.drainAll", relation: "callers", limit: 5 })).rejects.toThrow(
    text,
  );
});
