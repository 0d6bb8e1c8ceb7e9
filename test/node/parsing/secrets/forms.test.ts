import { describe, expect, it } from "vitest";
import { findSecrets } from "../../../../src/engines/parsing/secrets/find.ts";
import { seededIntegers } from "../../../support/numbers.ts";
import { Draw } from "./draw.ts";
import { FORMS } from "./forms.ts";

const SAMPLES = 20;
const SEED = 7;

/** Whether a part of the secret is found: its chunk is withheld then. A secret that is written in parts counts by its first half. */
function isFound(text: string, secret: string): boolean {
  const at = text.indexOf(secret.slice(0, 12));
  return findSecrets(text).some(({ start, end }) => start < at + secret.length && end > at);
}

describe("secrets in files of many formats", () => {
  it("are of at least 200 forms, each once", () => {
    expect(FORMS.length).toBeGreaterThanOrEqual(200);
    expect(new Set(FORMS.map(([name]) => name)).size).toBe(FORMS.length);
  });

  it.each(FORMS.map(([name, sample]) => ({ name, sample })))(
    "are found as $name, in 19 of 20 samples",
    ({ sample }) => {
      const draw = new Draw(seededIntegers(SEED));
      const missed = Array.from({ length: SAMPLES }, () => sample(draw)).filter(
        ({ text, secrets }) => !secrets.every((secret) => isFound(`first line\n${text}\nlast line\n`, secret)),
      );
      expect(missed.length, missed[0]?.text).toBeLessThanOrEqual(SAMPLES * 0.05);
    },
  );
});
