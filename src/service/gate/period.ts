/** UTC calendar months, written `YYYY-MM`. */

export function periodOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

/** Start of the month, Unix time in milliseconds. */
export function periodStartMs(period: string): number {
  return Date.parse(`${period}-01T00:00:00.000Z`);
}

/** Start of the next month, Unix time in milliseconds. */
export function periodEndMs(period: string): number {
  const start = new Date(periodStartMs(period));
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1);
}
