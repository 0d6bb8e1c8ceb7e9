import { expect, it } from "vitest";
import type { TextFile } from "../../../src/engines/exact/types.ts";
import { grepUntimed, inMemory, request } from "./in-memory.ts";

it("a search of the same files as one before asks nothing of those that it does not read", async () => {
  const texts = inMemory(
    Array.from({ length: 50 }, (_, i) => ({ path: `src/f${i}.ts`, bytes: `line ${i} of ${i}\n` })),
  );
  let asked = 0;
  const files = (await texts.files()).map((file) =>
    Object.create(file, {
      content: { get: () => (asked++, file.content) },
      withheldLines: { get: () => (asked++, file.withheldLines) },
    }),
  ) as TextFile[];
  const again = {
    ...texts,
    files: () => Promise.resolve(files),
    candidates: () => Promise.resolve((n: number) => n < 2),
  };
  const first = await grepUntimed(again, request("line"));
  expect(asked).toBeGreaterThanOrEqual(50);
  asked = 0;
  expect(await grepUntimed(again, request("line"))).toEqual(first);
  expect(asked).toBeLessThan(10);
  expect(first.coverage.files).toBe(50);
  expect(first.matches.map(({ path }) => path)).toEqual(["src/f0.ts", "src/f1.ts"]);
});

it("what a search lacks is not missing in the next one of the same files", async () => {
  const given = [
    { path: "a.ts", bytes: "one x\n", content: "1", withheld: [[1, 1]] as [number, number][] },
    { path: "b.bin", content: undefined, reason: "binary" },
    { path: "b.ts", bytes: "two x\n", content: "2" },
    { path: "copy/b.ts", bytes: "two x\n", content: "2" },
    { path: "test/b.test.ts", bytes: "two x\n", content: "2" },
  ];
  const texts = inMemory(given);
  const read = texts.read.bind(texts);
  let isDamaged = true;
  texts.read = async function* (contents) {
    for await (const text of read(contents))
      yield isDamaged && text.content === "2" ? { content: "2", missing: "damaged" } : text;
  };
  const partial = await grepUntimed(texts, request("two"));
  expect(partial).toMatchObject({ complete: false, total: { lines: 0, files: 0 }, coverage: { files: 1 } });
  expect(partial.coverage.notSearched).toEqual({ binary: 1, damaged: 3 });
  expect(partial.gaps.map(({ path }) => path)).toEqual(["b.ts", "copy/b.ts", "test/b.test.ts"]);
  isDamaged = false;
  const whole = await grepUntimed(texts, request("two"));
  expect(whole).toEqual(await grepUntimed(inMemory(given), request("two")));
  expect(whole.coverage).toMatchObject({ files: 4, notSearched: { binary: 1 }, withheldLines: 1 });
  expect(whole.matches.map(({ path }) => path)).toEqual(["b.ts", "copy/b.ts", "test/b.test.ts"]);
  const included = await grepUntimed(texts, request("two", { include: ["tests"], filesOnly: true }));
  expect(included.files?.map(({ path }) => path)).toEqual(["b.ts", "copy/b.ts", "test/b.test.ts"]);
});
