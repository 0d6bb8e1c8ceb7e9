import { describe, expect, it } from "vitest";
import { inspectTexts, type UnknownText } from "../../../src/cli/exact/inspect-texts.ts";
import { type InspectedText, inspectText } from "../../../src/engines/exact/inspect.ts";

/** More than one thread inspects so many. */
const MANY = 450;
const SECRET = `const key = "${["AKIA", "QX7PLM2ZR5TVB9KD"].join("")}";\n`;

function textOf(i: number): Uint8Array {
  if (i % 7 === 0) return Buffer.from(`${SECRET}line ${i}\n`);
  if (i % 11 === 0) return new Uint8Array([i, 0, 1]);
  if (i % 50 === 1) return new Uint8Array();
  const text = `export const word${i} = ${i};\n`.repeat(i % 13 === 0 ? 20_000 : 1);
  // Others share a buffer, as those of git's objects do.
  return i % 2 === 0 ? Buffer.from(text) : new TextEncoder().encode(`before${text}`).subarray("before".length);
}

describe("inspecting texts", () => {
  it("finds the same of many, in threads, as of each by itself", async () => {
    const found = new Map<number, InspectedText>();
    async function* texts(): AsyncGenerator<UnknownText<number>> {
      for (let i = 0; i < MANY; i++) yield { key: i, bytes: textOf(i) };
    }
    await inspectTexts(texts(), MANY, (key, inspected) => found.set(key, inspected));
    expect(found.size).toBe(MANY);
    for (let i = 0; i < MANY; i++) expect(found.get(i), `text ${i}`).toEqual(inspectText(textOf(i)));
    expect(found.get(0)?.withheld).toEqual([[1, 1]]);
  });

  it("fails where the texts cannot be read on, and leaves no thread that keeps the process running", async () => {
    function* texts(): Generator<UnknownText<number>> {
      for (let i = 0; i < MANY / 2; i++) yield { key: i, bytes: textOf(i) };
      throw new Error("the disk is gone");
    }
    const threads = () =>
      process.getActiveResourcesInfo().filter((name) => name === "MessagePort" || name === "Worker");
    const before = threads().length;
    await expect(inspectTexts(texts(), MANY, () => undefined)).rejects.toThrow("the disk is gone");
    expect(threads()).toHaveLength(before);
  });
});
