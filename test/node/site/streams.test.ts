/** Pages that are sent in two parts. */
import { describe, expect, it } from "vitest";
import { inTwo } from "../../../src/workers/site/app/streams.ts";

const read = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string | undefined> => {
  const { value } = await reader.read();
  return value && new TextDecoder().decode(value);
};

describe("a text in two parts", () => {
  it("sends the first before the last is there", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const reader = inTwo("first ä", promise).getReader();
    expect(await read(reader)).toBe("first ä");
    resolve("last ö");
    expect(await read(reader)).toBe("last ö");
    expect(await read(reader)).toBeUndefined();
  });

  it("ends with the error of the last", async () => {
    const reader = inTwo("first", Promise.reject(new Error("lost"))).getReader();
    expect(await read(reader)).toBe("first");
    await expect(reader.read()).rejects.toThrow("lost");
  });

  it("takes no harm from a reader that leaves", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const reader = inTwo("first", promise).getReader();
    expect(await read(reader)).toBe("first");
    await reader.cancel();
    resolve("last");
    await expect(reader.closed).resolves.toBeUndefined();
  });
});
