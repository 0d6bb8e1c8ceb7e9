import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { PROJECT_ROOT } from "../../../src/tooling/local/project.ts";

/**
 * Migrations run while the version before them still serves, so they add first; what is no longer used is removed in a later release
 * (expand, deploy, contract). A statement that the running version may not survive must stand below a line `-- contract: <why it is
 * safe now>`.
 */
const UNSAFE: [name: string, pattern: RegExp][] = [
  ["drops a table", /\bdrop\s+table\b/i],
  ["drops a column", /\bdrop\s+column\b/i],
  ["drops a type, a view or a schema", /\bdrop\s+(?:type|view|materialized\s+view|schema)\b/i],
  ["renames", /\brename\s+(?:to|column|constraint|value)\b/i],
  ["changes a column's type", /\balter\s+column\s+\S+\s+(?:set\s+data\s+)?type\b/i],
  ["requires a column that the running version does not write", /\balter\s+column\s+\S+\s+set\s+not\s+null\b/i],
  ["drops a default that the running version relies on", /\balter\s+column\s+\S+\s+drop\s+default\b/i],
  ["deletes rows", /^\s*(?:delete\s+from|truncate)\b/i],
];
const CONTRACT = /^--[ \t]*contract:[ \t]*\S.{9,}$/im;

function unsafeStatements(sql: string): string[] {
  return sql.split("--> statement-breakpoint").flatMap((part) => {
    const statement = part.replaceAll(/^--.*$/gm, "").trim();
    if (CONTRACT.test(part)) return [];
    const found = UNSAFE.filter(([, pattern]) => pattern.test(statement)).map(([name]) => name);
    const isNewColumn = /\badd\s+column\b/i.test(statement) && /\bnot\s+null\b/i.test(statement);
    if (isNewColumn && !/\bdefault\b|\bgenerated\b/i.test(statement))
      found.push("adds a required column without a default");
    return found.map((name) => `${name}: ${statement.slice(0, 120)}`);
  });
}

describe("migrations", () => {
  const folder = path.join(PROJECT_ROOT, "drizzle");
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));

  it.each(files)("%s can run beside the version before it", (file) => {
    expect(unsafeStatements(readFileSync(path.join(folder, file), "utf8"))).toEqual([]);
  });

  it("are told apart: what removes or requires something, unless it is marked as a contract step", () => {
    for (const statement of [
      "DROP TABLE a;",
      'ALTER TABLE "a" DROP COLUMN "b";',
      'ALTER TABLE "a" RENAME COLUMN "b" TO "c";',
      'ALTER TABLE "a" ALTER COLUMN "b" SET DATA TYPE bigint;',
      'ALTER TABLE "a" ALTER COLUMN "b" SET NOT NULL;',
      'ALTER TABLE "a" ADD COLUMN "b" text NOT NULL;',
      "DELETE FROM a;",
    ]) {
      expect(unsafeStatements(`CREATE TABLE c ();--> statement-breakpoint\n${statement}`), statement).toHaveLength(1);
      expect(unsafeStatements(`-- contract: nothing has read it since 1.2.0\n${statement}`), statement).toEqual([]);
      expect(unsafeStatements(`-- contract:\n${statement}`), statement).toHaveLength(1);
    }
    for (const statement of [
      'ALTER TABLE "a" ADD COLUMN "b" date DEFAULT current_date NOT NULL;',
      'ALTER TABLE "a" ADD COLUMN "b" text;',
      'DROP INDEX "a_b";',
      'CREATE TABLE "a" ("b" text NOT NULL);',
    ]) {
      expect(unsafeStatements(statement), statement).toEqual([]);
    }
  });
});
