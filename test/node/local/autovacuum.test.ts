import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { startAutovacuum } from "../../../src/tooling/local/database/autovacuum.ts";
import type { Session } from "../../../src/tooling/local/database/neon-endpoint.ts";

type Answer = Awaited<ReturnType<Session["query"]>>;

let sessions: number;
let statements: string[];
let overdue: string[];
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  [sessions, statements, overdue] = [0, [], []];
  const query = (text: string): Answer => {
    const isLook = text.includes("pg_stat_user_tables");
    statements.push(isLook ? "look" : text);
    const next = isLook ? overdue.shift() : undefined;
    if (next === "fail") throw new Error("no such table");
    return {
      fields: [],
      command: "",
      rowCount: 0,
      error: undefined,
      status: "I",
      rows: next === undefined ? [] : [[next]],
    };
  };
  stop = startAutovacuum(
    () => Promise.resolve({ query, release: () => undefined }),
    () => sessions,
  );
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

const minute = () => vi.advanceTimersByTimeAsync(60_000);

it("treats tables one after another, and then leaves an idle database alone", async () => {
  overdue = ["analyze a", "vacuum (analyze) b"];
  await minute();
  expect(statements).toEqual(["look", "analyze a", "look", "vacuum (analyze) b", "look", "look", "look"]);
  sessions++;
  await minute();
  expect(statements.slice(7)).toEqual(["look", "look", "look"]);
});

it("goes on after a statement that fails, and not after it is stopped", async () => {
  const shown = vi.spyOn(console, "error").mockReturnValue();
  overdue = ["fail", "analyze a"];
  await minute();
  expect(shown.mock.calls).toEqual([["autovacuum: no such table"]]);
  expect(statements.slice(0, 3)).toEqual(["look", "look", "analyze a"]);
  stop();
  sessions++;
  const before = statements.length;
  await minute();
  expect(statements).toHaveLength(before);
});
