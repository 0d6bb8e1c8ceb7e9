import { DrizzleQueryError } from "drizzle-orm";
import { expect, it } from "vitest";
import { createLogger } from "../../src/lib/log.ts";

it("logs neither the statement nor the parameters of a failed query", () => {
  const lines: string[] = [];
  const cause = new Error("connection lost");
  createLogger({}, (line) => lines.push(line)).error(
    "failed",
    new DrizzleQueryError("select secret_column\n  from secrets", ["sealed-value\nsecond line"], cause),
  );
  const [line = ""] = lines;
  expect(JSON.parse(line)).toMatchObject({ error: expect.stringContaining("failed query ← Error: connection lost") });
  expect(line).toContain("log.test.ts");
  for (const part of ["secret_column", "from secrets", "sealed-value", "second line"]) expect(line).not.toContain(part);
});
