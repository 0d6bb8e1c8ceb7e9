import { expect, it } from "vitest";
import { search } from "../../../src/engines/search/search.ts";
import { coldIndex, type TestFile, textsOf } from "./support.ts";

it("the line of a quoted text is shown of files that are far below the best, too", async () => {
  const files: TestFile[] = [
    {
      path: "src/limit.ts",
      language: "typescript",
      text: 'export function limit() {\n  throw Error("too many steps");\n}',
    },
    {
      path: "docs/errors.md",
      language: "markdown",
      text: "# Errors\n\nOf limits.\n\nSays `too many steps` at times.\n\nEnd.",
    },
  ];
  const { results } = await search(await coldIndex(files), { query: '"too many steps"' }, textsOf(files));
  expect(results.map(({ path, excerpts }) => [path, excerpts.map(({ text }) => text)])).toEqual([
    ["src/limit.ts", [expect.stringContaining("throw Error")]],
    ["docs/errors.md", ["Says `too many steps` at times."]],
  ]);
});
