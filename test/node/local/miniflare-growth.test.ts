import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { withLargeSteps } from "../../../src/tooling/local/stack/miniflare-growth.ts";

it("changes one constant of the installed Miniflare", () => {
  const source = readFileSync(createRequire(import.meta.url).resolve("miniflare"), "utf8");
  const changed = withLargeSteps(source);
  expect(changed).toContain("MIN_SINGLE_SEGMENT_GROWTH = 67108864");
  expect(changed.length - source.length).toBe("67108864".length - "4096".length);
});
