import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { embedText } from "../../../src/engines/embedding/builtin/lexical.ts";
import { workerTerms } from "../../../src/engines/embedding/builtin/terms-worker.ts";
import { GOLDEN_SHA256, GOLDEN_TERMS_SHA256, GOLDEN_TEXTS, hashOfTermVectors } from "../../support/builtin-golden.ts";

it("gives in workerd the very bits it gives in Node", () => {
  const hash = createHash("sha256");
  for (const dimension of [256, 1_000]) {
    for (const text of GOLDEN_TEXTS) hash.update(new Uint8Array(embedText(text, dimension).buffer));
  }
  expect(hash.digest("hex")).toBe(GOLDEN_SHA256);
});

it("does so with the table of terms", async () => {
  expect(await hashOfTermVectors(workerTerms)).toBe(GOLDEN_TERMS_SHA256);
});
