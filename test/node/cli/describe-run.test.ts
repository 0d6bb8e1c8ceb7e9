import { expect, it } from "vitest";
import { describeRun } from "../../../src/cli/commands/index-hosted.ts";

it("the text of a hosted run names its commit, if it is known", () => {
  const gitSha = "28a9c128912de19f3fb28b00ae289c9b93f6f392";
  expect(describeRun({ gitSha, fileCount: 466 }, 1800)[0]).toBe(
    "Indexed 28a9c12891: 466 files, 0 symbols, 0 chunks in 1.8 s",
  );
  expect(
    describeRun({ fileCount: 1, symbolCount: 1_234, chunkCount: 1, skippedUnchanged: 1, redactedCount: 2 }, 1800),
  ).toEqual([
    "Indexed: 1 file, 1,234 symbols, 1 chunk in 1.8 s",
    "1 file unchanged, 0 chunks embedded, 2 withheld, 0 parsed in part, 0 not parsed",
  ]);
  expect(describeRun({}, 1800)[0]).toMatch(/^Indexed: 0 files, /);
});
