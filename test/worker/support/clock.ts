import { vi } from "vitest";

/** Stops the clock that tests and objects share at `atMs`; timers and alarms go on in real time. */
export function stopClock(atMs: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: atMs });
}

export function startClock(): void {
  vi.useRealTimers();
}
