/** Charts as inline SVG, each with a table of its figures for screen readers. */
import { formatCompact, formatCount } from "./format.ts";

const WIDTH = 760;
const HEIGHT = 200;
const LEFT = 46;
const BOTTOM = 22;
const TOP = 8;
const PLOT_WIDTH = WIDTH - LEFT;
const PLOT_HEIGHT = HEIGHT - BOTTOM - TOP;
const GRID_LINES = 4;

export interface Point {
  /** `YYYY-MM-DD`. */
  day: string;
  value: number;
}

/** Smallest round number at or above `value`, so that the axis has whole steps. */
function niceCeiling(value: number): number {
  if (value <= GRID_LINES) return GRID_LINES;
  const magnitude = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 5, 8, 10].find((factor) => factor * magnitude >= value) ?? 10;
  return step * magnitude;
}

const y = (value: number, top: number) => TOP + PLOT_HEIGHT - (value / top) * PLOT_HEIGHT;

function Grid({ top }: { top: number }) {
  const values = Array.from({ length: GRID_LINES + 1 }, (_, i) => (top / GRID_LINES) * i);
  return (
    <>
      {values.map((value) => (
        <>
          <line class="grid" x1={LEFT} x2={WIDTH} y1={y(value, top)} y2={y(value, top)} />
          <text x={LEFT - 8} y={y(value, top) + 4} text-anchor="end">
            {formatCompact(value)}
          </text>
        </>
      ))}
    </>
  );
}

function DayLabels({ days }: { days: string[] }) {
  const every = Math.ceil(days.length / 8);
  const slot = PLOT_WIDTH / days.length;
  return (
    <>
      {days.map((day, i) =>
        i % every === 0 ? (
          <text
            x={LEFT + (i === 0 ? 0 : slot * (i + 0.5))}
            y={HEIGHT - 4}
            text-anchor={i === 0 ? "start" : "middle"}
            class={(i / every) % 2 === 1 ? "between" : ""}
          >
            {day.slice(5).replace("-", "/")}
          </text>
        ) : null,
      )}
    </>
  );
}

/** A bar chart with one bar per day. */
export function DayBars({ points, unit, title }: { points: Point[]; unit: string; title: string }) {
  if (points.every(({ value }) => value === 0)) return <p class="soft">No {unit} in these days.</p>;
  const top = niceCeiling(Math.max(0, ...points.map(({ value }) => value)));
  const slot = PLOT_WIDTH / Math.max(1, points.length);
  return (
    <figure class="figure-chart">
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={title}>
        <Grid top={top} />
        {points.map(({ day, value }, i) => (
          <rect
            class="bar"
            x={LEFT + slot * i + slot * 0.14}
            width={slot * 0.72}
            y={y(value, top)}
            height={Math.max(value > 0 ? 1.5 : 0, TOP + PLOT_HEIGHT - y(value, top))}
            rx="1.5"
          >
            <title>{`${day}: ${formatCount(value)} ${unit}`}</title>
          </rect>
        ))}
        <DayLabels days={points.map(({ day }) => day)} />
      </svg>
      <DataTable points={points} unit={unit} title={title} />
    </figure>
  );
}

/** A line chart of the month so far, its projection, and the quota. */
export function MonthLine({
  points,
  daysInMonth,
  limit,
  projected,
}: {
  /** Cumulative credits by day of this month. */
  points: Point[];
  daysInMonth: number;
  limit: number;
  projected: number;
}) {
  const last = points.at(-1)?.value ?? 0;
  if (last === 0) return <p class="soft">No credits are used yet.</p>;
  // A quota far above the figures is not drawn, since it would flatten the line.
  const showsLimit = limit <= Math.max(last, projected) * 4;
  const top = niceCeiling(Math.max(last, projected, showsLimit ? limit : 0) * 1.05);
  const slot = PLOT_WIDTH / daysInMonth;
  const x = (i: number) => LEFT + slot * (i + 1);
  const path = [
    `M${LEFT} ${y(0, top)}`,
    ...points.map(({ value }, i) => `L${x(i).toFixed(1)} ${y(value, top).toFixed(1)}`),
  ].join(" ");
  const title = `Credits of this month: ${formatCount(last)} so far, about ${formatCount(projected)} expected, ${formatCount(limit)} available`;
  return (
    <figure class="figure-chart">
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={title}>
        <Grid top={top} />
        {showsLimit && (
          <>
            <line class="limit" x1={LEFT} x2={WIDTH} y1={y(limit, top)} y2={y(limit, top)} />
            <text x={WIDTH - 4} y={y(limit, top) - 5} text-anchor="end">
              quota {formatCompact(limit)}
            </text>
          </>
        )}
        <path class="line" d={path} />
        {points.length < daysInMonth && (
          <path
            class="projected"
            d={`M${x(points.length - 1)} ${y(last, top)} L${x(daysInMonth - 1)} ${y(projected, top)}`}
          />
        )}
        <text x={LEFT} y={HEIGHT - 4}>
          1st
        </text>
        <text x={WIDTH} y={HEIGHT - 4} text-anchor="end">
          {daysInMonth}th
        </text>
      </svg>
    </figure>
  );
}

function DataTable({ points, unit, title }: { points: Point[]; unit: string; title: string }) {
  return (
    <details class="small">
      <summary class="soft">Figures as a table</summary>
      <table>
        <caption class="sr">{title}</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col" class="num">
              {unit}
            </th>
          </tr>
        </thead>
        <tbody>
          {points.map(({ day, value }) => (
            <tr>
              <th scope="row">{day}</th>
              <td class="num">{formatCount(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
