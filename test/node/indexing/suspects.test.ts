import { expect, it } from "vitest";
import type { CodeParser } from "../../../src/engines/parsing/parser.ts";
import { shardParser } from "../../../src/service/indexing/suspects.ts";
import { createLogger } from "../../../src/lib/log.ts";
import type { RunSpec } from "../../../src/service/db/run-spec.ts";
import { MemoryBucket } from "../../support/pipeline.ts";
import { encode, sharedParser } from "../parsing/support.ts";

const run = { runId: "run" } as RunSpec;
const log = createLogger({}, () => {});
const file = (id: string) => ({ id, bytes: encode("def one():\n    return 1\n"), language: "python" as const });

/** An isolate ends within the parse of Python with this id: nothing of it goes on. */
async function parserOf(staging: MemoryBucket, attempt: number, deadly: string) {
  const parser = await sharedParser();
  let id = "";
  const mortal: CodeParser = {
    ...parser,
    parse: (input) => (id === deadly && input.language === "python" ? new Promise(() => {}) : parser.parse(input)),
  };
  const parse = await shardParser({ run, attempt, staging, log }, mortal);
  return (content: ReturnType<typeof file>) => {
    ({ id } = content);
    return parse(content);
  };
}

it("a file whose parse ended the isolate twice is text to the third attempt", async () => {
  const staging = new MemoryBucket();
  for (const attempt of [1, 2]) {
    const parse = await parserOf(staging, attempt, "b");
    expect(await parse(file("a"))).toMatchObject({ outcome: "syntax" });
    void parse(file("b"));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const parse = await parserOf(staging, 3, "b");
  expect(await parse(file("a"))).toMatchObject({ outcome: "syntax" });
  const text = await parse(file("b"));
  expect(text).toMatchObject({ outcome: "fallback", fallbackReason: "time", symbols: [] });
  expect(text.chunks.map((chunk) => chunk.text).join("")).toContain("def one()");
});

it("the first attempt notes nothing, and a parse that fails leaves no note", async () => {
  const staging = new MemoryBucket();
  const parser = await sharedParser();
  const failing: CodeParser = { ...parser, parse: () => Promise.reject(new Error("out of order")) };
  await (
    await parserOf(staging, 1, "")
  )(file("a"));
  const parse = await shardParser({ run, attempt: 2, staging, log }, failing);
  await expect(parse(file("a"))).rejects.toThrow("out of order");
  expect(staging.objects.size).toBe(0);
});
