import { expect, it } from "vitest";
import { runJobs } from "../../../src/workers/indexer/jobs.ts";
import { createLogger } from "../../../src/lib/log.ts";

it("runs every job in order, whichever fail, and fails at the end with all of their errors", async () => {
  const ran: string[] = [];
  const lines: string[] = [];
  const log = createLogger({}, (line) => lines.push(line));
  const job = (name: string, error?: Error) => async () => {
    ran.push(name);
    if (error) throw error;
  };
  const errors = [new Error("first"), new Error("third")];
  const jobs = { a: job("a", errors[0]), b: job("b"), c: job("c", errors[1]), d: job("d") };
  const failure: unknown = await runJobs(jobs, log).catch((error: unknown) => error);
  expect(ran).toEqual(["a", "b", "c", "d"]);
  expect(failure).toBeInstanceOf(AggregateError);
  expect(failure).toMatchObject({ errors, message: "2 scheduled jobs failed" });
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { event: "job_failed", job: "a" },
    { event: "job_failed", job: "c" },
  ]);
  await expect(runJobs({ b: job("b") }, log)).resolves.toBeUndefined();
});
