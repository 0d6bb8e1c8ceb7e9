import { describe, expect, it } from "vitest";
import { readAnswer } from "../../../src/interface/client/answers.ts";

describe("readAnswer", () => {
  const check = { ok: true, fingerprint: "f", dimension: 3 };

  it("returns the fields of the contract", async () => {
    expect(await readAnswer("EmbedCheckResponse", check)).toEqual({ answer: check });
    expect(await readAnswer("ProbeResponse", { ok: true, exists: false })).toEqual({
      answer: { ok: true, exists: false },
    });
  });

  it("names the field that is wrong", async () => {
    expect(await readAnswer("EmbedCheckResponse", { ...check, dimension: -1 })).toEqual({
      issue: expect.stringMatching(/^dimension: /),
    });
    expect(await readAnswer("EmbedCheckResponse", undefined)).toEqual({ issue: expect.stringMatching(/^body: /) });
  });
});
