import { describe, expect, it } from "vitest";
import { impactOf } from "../../../src/interface/questions/impact/impact.ts";
import { impactText } from "../../../src/interface/mcp/impact-answer.ts";
import { impactResponse } from "../../../src/interface/questions/http.ts";
import { indexesOf } from "../relations/support.ts";

const FILES: Readonly<Record<string, string>> = {
  "src/a.ts": 'import { useState } from "react";\nexport function A() {\n  useState(1);\n  useState(2);\n}\n',
  "src/b.ts": 'import { A } from "./a.ts";\nexport function B() {\n  A();\n}\n',
  "src/c.ts": "export function c(x) {\n  x.useState(4);\n}\n",
  "src/d.ts": "export function Usestate() {}\nUsestate();\n",
  "test/a.test.ts": 'import { useState } from "react";\nfunction tests() {\n  useState(3);\n}\n',
};
const REQUEST = { depth: 2, limit: 20, maxTokens: 3_000 };

const ask = async (name: string) => impactOf(await indexesOf(FILES), { ...REQUEST, name });

describe("impact of a name that no index defines", () => {
  it("is what uses it, the surest first, and the tests among that", async () => {
    const { outside, changed, files, tests, dependents, total, truncated } = await ask("useState");
    expect(outside).toEqual(["react"]);
    expect(changed).toEqual([]);
    expect(files.map(({ path, test, because }) => [path, test, because.join()])).toEqual([
      ["src/a.ts", false, "uses `useState` (certain) in 2 lines"],
      ["test/a.test.ts", true, "uses `useState` (certain) in 1 line"],
      ["src/b.ts", false, "is 2 calls away from a use of `useState`"],
      ["src/c.ts", false, "uses `useState` (by name only) in 1 line"],
    ]);
    expect(tests).toEqual([{ revision: 0, path: "test/a.test.ts", symbol: "tests", certainty: "certain" }]);
    expect(dependents.map(({ path, line, distance }) => `${path}:${line} ${distance}`)).toEqual([
      "src/a.ts:3 1",
      "src/a.ts:4 1",
      "test/a.test.ts:3 1",
      "src/b.ts:3 2",
      "src/c.ts:2 1",
    ]);
    expect(total).toEqual({ changed: 0, files: 4, dependents: 5, tests: 1, interfaces: 0 });
    expect(truncated).toBe(false);
  });

  it("of a package is what imports it", async () => {
    const { outside, files, dependents } = await ask("react");
    expect(outside).toEqual(["react"]);
    expect(files.map(({ path, because }) => [path, because.join()])).toEqual([
      ["src/a.ts", "imports `react` (certain)"],
      ["test/a.test.ts", "imports `react` (certain)"],
    ]);
    expect(dependents.map(({ line }) => line)).toEqual([1, 1]);
  });

  it("is that of the definition where one is written as the name, and an error where nothing uses it", async () => {
    expect((await ask("Usestate")).outside).toBeUndefined();
    await expect(ask("nowhere")).rejects.toMatchObject({ field: "name", value: "nowhere" });
  });

  it("is told over HTTP and by the tool", async () => {
    const info = { name: "a", repo: "a", workspaceId: "w", ref: null, gitSha: "a1", indexedAtMs: 0, isWorkTree: false };
    const indexes = [{ ...info, indexedAt: "", fingerprint: "", digest: "" }];
    const answer = { ...(await ask("useState")), indexes, digest: "" };
    const text = impactText(answer, { nowMs: 0, maxTokens: 3_000 }, { name: "useState" });
    expect(text).toContain("Nothing in the index defines useState; files import it from react.");
    expect(text).toContain("src/a.ts  uses `useState` (certain) in 2 lines");
    expect(impactResponse(answer)).toMatchObject({ outside: ["react"], changed: [], total: { dependents: 5 } });
  });
});
