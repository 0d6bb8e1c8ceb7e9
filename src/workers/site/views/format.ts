/** Formats figures and times for people. */
const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const figures = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** "3 minutes ago", "in 2 days", "just now". */
export function relativeTime(date: Date, nowMs: number): string {
  const seconds = (date.getTime() - nowMs) / 1_000;
  const step = STEPS.find(([, length]) => Math.abs(seconds) >= length);
  return step ? relative.format(Math.trunc(seconds / step[1]), step[0]) : seconds > 10 ? "in a moment" : "just now";
}

/** 12,345 */
export function formatCount(count: number): string {
  return figures.format(count);
}

/** "1 file", "12,345 files" */
export function formatNumberOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** 12.3K */
export function formatCompact(count: number): string {
  return compact.format(count);
}

const BYTE_UNITS = ["B", "KB", "MB", "GB", "TB"];

/** 12.3 MB */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[power] ?? "B"}`;
}

/** 2026-11-21 */
export function isoDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** 0.4 s, 12 s, 3 min 5 s, 2 h 10 min */
export function spanText(ms: number): string {
  const tenths = Math.round(Math.max(0, ms) / 100);
  if (tenths < 100) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(tenths / 10);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
