import { expect, it } from "vitest";
import type { CodeParser } from "../../../src/engines/parsing/parser.ts";
import { groupParser } from "../../../src/service/indexing/suspects.ts";
import { createLogger } from "../../../src/lib/log.ts";
import type { RunSpec } from "../../../src/service/db/run-spec.ts";
import { MemoryBucket } from "../../support/pipeline.ts";
import { encode, sharedParser } from "../parsing/support.ts";

const run = { runId: "run" } as RunSpec;
const log = createLogger({}, () => {});
const file = (id: string) => ({ id, bytes: encode("def one():\n    return 1\n"), language: "python" as const });
const IDS = ["a", "b", "c"];

class CountingBucket extends MemoryBucket {
  puts = 0;

  override put(key: string, value: Uint8Array): Promise<void> {
    this.puts++;
    return super.put(key, value);
  }
}

class KeepingBucket extends MemoryBucket {
  override delete(): Promise<void> {
    return Promise.reject(new Error("the store is away"));
  }
}

/** An attempt whose isolate ends within the parse of this file, if any, as Python. Gives the outcomes of the files before. */
async function attemptOf(staging: MemoryBucket, attempt: number, ends?: string, ids = IDS): Promise<string[]> {
  const group = await groupParser({ run, attempt, staging, log }, await sharedParser(), ids);
  const outcomes: string[] = [];
  for (const id of ids) {
    if (id === ends) {
      // Nothing of the isolate goes on after this.
      const hanging = { ...(await sharedParser()), parse: () => new Promise<never>(() => {}) };
      const last = await groupParser({ run, attempt, staging, log }, hanging, ids);
      void last.parse(file(id));
      await new Promise((resolve) => setTimeout(resolve, 10));
      return outcomes;
    }
    const { outcome, fallbackReason } = await group.parse(file(id));
    outcomes.push(fallbackReason ? `${outcome}:${fallbackReason}` : outcome);
  }
  await group.end();
  return outcomes;
}

it("a file at which two attempts ended is text to the fourth, with its chunks", async () => {
  const staging = new MemoryBucket();
  for (const attempt of [1, 2, 3]) expect(await attemptOf(staging, attempt, "b")).toEqual(["syntax"]);
  expect(await attemptOf(staging, 4)).toEqual(["syntax", "fallback:time", "syntax"]);
  const group = await groupParser({ run, attempt: 4, staging, log }, await sharedParser(), IDS);
  const text = await group.parse(file("b"));
  expect(text.symbols).toEqual([]);
  expect(text.chunks.map((chunk) => chunk.text).join("")).toContain("def one()");
});

it("a file at which an attempt ended once, for whatever reason, is parsed", async () => {
  const staging = new MemoryBucket();
  await attemptOf(staging, 2, "b");
  expect(await attemptOf(staging, 3)).toEqual(["syntax", "syntax", "syntax"]);
  expect(await attemptOf(staging, 4)).toEqual(["syntax", "syntax", "syntax"]);
});

it("the first attempt notes nothing, the second its groups, the third the files of those that an attempt ended in", async () => {
  const staging = new CountingBucket();
  await attemptOf(staging, 1);
  expect(staging.puts).toBe(0);
  await attemptOf(staging, 2);
  expect(staging.puts).toBe(1);
  expect(staging.objects.size).toBe(0);
  await attemptOf(staging, 2, "b");
  staging.puts = 0;
  await attemptOf(staging, 3, undefined, ["d", "e", "f", "g"]);
  expect(staging.puts).toBe(1);
  staging.puts = 0;
  await attemptOf(staging, 3);
  expect(staging.puts).toBe(3);
});

it("a note that cannot be removed hides neither a result nor an error, and is logged", async () => {
  const staging = new KeepingBucket();
  const logged: string[] = [];
  const step = { run, staging, log: createLogger({}, (line) => logged.push(JSON.stringify(line))) };
  const parser = await sharedParser();
  const failing: CodeParser = { ...parser, parse: () => Promise.reject(new Error("out of order")) };
  const second = await groupParser({ ...step, attempt: 2 }, parser, IDS);
  await second.end();
  const third = await groupParser({ ...step, attempt: 3 }, parser, IDS);
  expect(await third.parse(file("a"))).toMatchObject({ outcome: "syntax" });
  const broken = await groupParser({ ...step, attempt: 3 }, failing, IDS);
  await expect(broken.parse(file("b"))).rejects.toThrow("out of order");
  expect(logged.filter((line) => line.includes("note_not_removed"))).toHaveLength(3);
});
