import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { embedText } from "../../../src/engines/embedding/builtin/embedder.ts";
import { GOLDEN_SHA256, GOLDEN_TEXTS } from "../../support/builtin-golden.ts";

it("gives in workerd the very bits it gives in Node", () => {
  const hash = createHash("sha256");
  for (const dimension of [256, 1_000]) {
    for (const text of GOLDEN_TEXTS) hash.update(new Uint8Array(embedText(text, dimension).buffer));
  }
  expect(hash.digest("hex")).toBe(GOLDEN_SHA256);
});
