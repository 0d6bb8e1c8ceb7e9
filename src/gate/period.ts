/** UTC calendar months, written `YYYY-MM`. */

export function periodOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

/** Unix time in milliseconds at which the month begins. */
export function periodStartMs(period: string): number {
  return Date.parse(`${period}-01T00:00:00.000Z`);
}

/** Unix time in milliseconds at which the next month begins. */
export function periodEndMs(period: string): number {
  const start = new Date(periodStartMs(period));
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1);
}
