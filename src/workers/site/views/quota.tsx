import type { Quota } from "../../../service/dashboard/usage.ts";
import { formatCount } from "./format.ts";

/** Share of the quota from which pages warn. */
const WARN_AT = 0.8;

/** Says that the month's credits run out, or have; nothing below {@link WARN_AT}. */
export function QuotaBanner({ quota, usagePath, nowMs }: { quota: Quota; usagePath: string; nowMs: number }) {
  const { credits, limit } = quota;
  if (credits < limit * WARN_AT) return null;
  const used = `${formatCount(credits)} of ${formatCount(limit)} credits`;
  const isOver = credits >= limit;
  return (
    <p class={isOver ? "notice error" : "notice warn"} id="quota-banner">
      {isOver
        ? `${used} of this month are used: calls that cost credits are refused until ${nextMonth(nowMs)} (UTC).`
        : `${used} of this month are used. When all are, calls that cost credits are refused until ${nextMonth(nowMs)} (UTC).`}{" "}
      The operator of this service can raise the quota. <a href={usagePath}>See what used them</a>
    </p>
  );
}

const days = new Intl.DateTimeFormat("en", { day: "numeric", month: "long", timeZone: "UTC" });

/** First day of the next month, such as "December 1". */
export function nextMonth(nowMs: number): string {
  const now = new Date(nowMs);
  return days.format(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}
