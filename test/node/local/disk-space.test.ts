import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { watchDiskSpace } from "../../../src/tooling/local/stack/disk-space.ts";

const MB = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("warns once while little is left of the disk, and again after there was more", () => {
  const warn = vi.fn();
  let free = 2_000 * MB;
  const end = watchDiskSpace("/data", warn, { freeBytes: () => free, everyMs: 1_000 });
  const warningsAfter = (bytes: number): number => {
    free = bytes;
    vi.advanceTimersByTime(3_000);
    return warn.mock.calls.length;
  };
  expect([400, 300, 800, 20].map((megabytes) => warningsAfter(megabytes * MB))).toEqual([1, 1, 1, 2]);
  expect(warn).toHaveBeenLastCalledWith("warning: 20 MB are left on the disk of /data: when it is full, requests fail");
  end();
  expect(warningsAfter(800 * MB) + warningsAfter(0)).toBe(4);
});

it("says nothing where the free space cannot be told", () => {
  const warn = vi.fn();
  watchDiskSpace("/no/such/folder", warn)();
  expect(warn).not.toHaveBeenCalled();
});
