import { Script } from "node:vm";
import { afterEach, expect, it, vi } from "vitest";
import { usesOf } from "../../../src/cli/local-index/file-uses.ts";

afterEach(() => vi.restoreAllMocks());

const PAUSED = { user: 0, system: 0 };

/** Ends the next so many parses as a timeout does. `usages`: the thread's processor time before and after each, in microseconds. */
function interrupt(count: number, usages: readonly NodeJS.CpuUsage[]): { readonly parses: number } {
  const run = vi.spyOn(Script.prototype, "runInContext");
  for (let ended = 0; ended < count; ended++)
    run.mockImplementationOnce(() => {
      throw Object.assign(new Error("timed out"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });
    });
  const usage = vi.spyOn(process, "threadCpuUsage").mockReturnValue(PAUSED);
  for (const value of usages) usage.mockReturnValueOnce(value);
  return {
    get parses() {
      return run.mock.calls.length;
    },
  };
}

it("reads the uses of a text again if the process was paused meanwhile", async () => {
  const counted = interrupt(1, []);
  expect(await usesOf("def one():\n    two()\n", "python")).toBeDefined();
  expect(counted.parses).toBe(2);
});

it("gives up a text whose second parse was interrupted too", async () => {
  const counted = interrupt(2, []);
  expect(await usesOf("def three():\n    four()\n", "python")).toBeUndefined();
  expect(counted.parses).toBe(2);
});

it("gives up a text whose parse used all of its time, and reads the next one", async () => {
  const counted = interrupt(1, [PAUSED, { user: 120_000_000, system: 0 }]);
  expect(await usesOf("def five():\n    six()\n", "python")).toBeUndefined();
  expect(counted.parses).toBe(1);
  expect(await usesOf("def seven():\n    eight()\n", "python")).toBeDefined();
});
