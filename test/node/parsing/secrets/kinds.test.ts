import { describe, expect, it } from "vitest";
import { findSecrets } from "../../../../src/engines/parsing/secrets/find.ts";
import { seededIntegers } from "../../../support/numbers.ts";
import { Draw } from "./draw.ts";
import { KINDS } from "./kinds.ts";

const SAMPLES = 100;
const SEED = 1;

describe("kinds of secrets", () => {
  it("are at least 200, each once", () => {
    expect(KINDS.length).toBeGreaterThanOrEqual(200);
    expect(new Set(KINDS.map(([name]) => name)).size).toBe(KINDS.length);
  });

  it.each(KINDS.map(([name, sample]) => ({ name, sample })))("$name is found in 95 of 100 samples", ({ sample }) => {
    const draw = new Draw(seededIntegers(SEED));
    const missed = Array.from({ length: SAMPLES }, () => `first line\n${sample(draw)}\nlast line\n`).filter(
      (text) => findSecrets(text).length === 0,
    );
    expect(missed.length, missed[0]).toBeLessThanOrEqual(SAMPLES * 0.05);
  });
});
