import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SECRETS_FILE } from "../../../src/tooling/local/stack/local-secrets.ts";
import { DAILY_CRON, FREQUENT_CRON, startSchedules } from "../../../src/tooling/local/stack/schedules.ts";

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 10, 1);

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), "code-context-schedules-"));
  const file = path.join(dataDir, SECRETS_FILE);
  writeFileSync(file, "{}");
  utimesSync(file, START / 1_000, START / 1_000);
});
afterEach(() => rmSync(dataDir, { recursive: true }));

/** The jobs of a stack that runs from `from` for `hours`, looked at every hour. */
async function jobs(from: number, hours: number, fails: (cron: string) => boolean = () => false): Promise<string[]> {
  const ran: string[] = [];
  const errors: unknown[] = [];
  let now = from;
  const run = (cron: string) => {
    ran.push(cron);
    return fails(cron) ? Promise.reject(new Error("no")) : Promise.resolve();
  };
  const schedules = startSchedules({ dataDir, run, onError: (error) => errors.push(error), now: () => now });
  await new Promise((resolve) => setImmediate(resolve));
  for (let hour = 1; hour < hours; hour++) {
    now += HOUR_MS;
    await schedules.tick();
  }
  schedules.stop();
  expect(errors).toHaveLength(ran.filter(fails).length);
  return ran;
}
const daily = (ran: string[]) => ran.filter((cron) => cron === DAILY_CRON).length;

it("the daily job runs once a day, also if the stack never runs for a day", async () => {
  let ran = 0;
  for (let day = 0; day < 10; day++) ran += daily(await jobs(START + day * 24 * HOUR_MS, 9));
  expect(ran).toBe(9);
  expect(daily(await jobs(START + 10 * 24 * HOUR_MS, 49))).toBe(3);
});

it("a job that fails is tried again after an hour, and after a restart", async () => {
  const later = START + 30 * HOUR_MS;
  expect(daily(await jobs(later, 4, (cron) => cron === DAILY_CRON))).toBe(4);
  expect(daily(await jobs(later + 4 * HOUR_MS, 4))).toBe(1);
});

it("the frequent job runs at the start; a damaged file or a clock from the future does not stop the daily one", async () => {
  expect(await jobs(START, 1)).toEqual([FREQUENT_CRON]);
  writeFileSync(path.join(dataDir, "clean-up.json"), '{"version":1,"finished');
  expect(daily(await jobs(START + 25 * HOUR_MS, 1))).toBe(1);
  writeFileSync(path.join(dataDir, "clean-up.json"), '{"version":1,"finishedAt":"2099-01-01T00:00:00.000Z"}');
  expect(daily(await jobs(START + 50 * HOUR_MS, 26))).toBe(1);
});
