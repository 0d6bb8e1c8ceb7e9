import { expect, it } from "vitest";
import { queueOf } from "../../../src/service/runs/queues.ts";

const queue = () => ({ send: async () => {} });

it("chooses a workspace's queue among those that are bound, always the same one, and spreads workspaces evenly", () => {
  const [first, second, tenth] = [queue(), queue(), queue()];
  const env = {
    INDEX_QUEUE_10: tenth,
    INDEX_QUEUE_2: second,
    INDEX_QUEUE: first,
    INDEX_QUEUE_LOG: "x",
    DATABASE_URL: "y",
  };
  const counts = new Map<unknown, number>();
  for (let i = 0; i < 3_000; i++) {
    const chosen = queueOf(env, crypto.randomUUID());
    counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
  }
  expect(counts.size).toBe(3);
  for (const count of counts.values()) expect(count).toBeGreaterThan(800);
  const workspace = "00000004-0000-4000-8000-000000000000";
  expect(queueOf(env, workspace)).toBe(second);
  expect(queueOf({ INDEX_QUEUE: first }, workspace)).toBe(first);
  expect(() => queueOf({}, workspace)).toThrow("no indexing queue is bound");
});
