import { expect, it } from "vitest";
import { placeLine } from "../../../src/tooling/local/commands/demo-questions.ts";

it("prints controls and marks of direction in foreign names as escapes", () => {
  expect(placeLine({ kind: "class", qualifiedName: "A.b" }, "src/a.ts:3")).toBe("  class      A.b  src/a.ts:3");
  expect(placeLine(null, "evil\u202ecod.exe\u001b[31m.ts:1-2")).toBe(String.raw`  evil\u202ecod.exe\x1b[31m.ts:1-2`);
});
