/** Charts as inline SVG, each with a table of its figures for screen readers. */
import type { Child } from "hono/jsx";
import { formatCompact, formatCount } from "./format.ts";

/** Measures of a chart in pixels at its natural size. */
interface Layout {
  /** Class by which the style sheet shows one of the two. */
  name: "wide" | "narrow";
  width: number;
  height: number;
  /** Room for the labels of the axis. */
  left: number;
  labels: number;
}

/** A chart is drawn for wide windows and for phones: scaled down, its labels could not be read. */
const LAYOUTS: readonly Layout[] = [
  { name: "wide", width: 760, height: 200, left: 46, labels: 8 },
  { name: "narrow", width: 340, height: 180, left: 40, labels: 4 },
];
const BOTTOM = 22;
const TOP = 8;
const GRID_LINES = 4;

export interface Point {
  /** `YYYY-MM-DD`. */
  day: string;
  value: number;
}

/** Smallest round number at or above `value`, so that the axis has whole steps. */
function niceCeiling(value: number): number {
  if (value <= GRID_LINES) return Math.max(1, Math.ceil(value));
  const magnitude = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 5, 8, 10].find((factor) => factor * magnitude >= value) ?? 10;
  return step * magnitude;
}

const plotHeight = ({ height }: Layout) => height - BOTTOM - TOP;
const yOf = (layout: Layout, value: number, top: number) =>
  TOP + plotHeight(layout) - (value / top) * plotHeight(layout);

function Grid({ layout, top }: { layout: Layout; top: number }) {
  // An axis up to 3 has 3 steps: there is no half call.
  const lines = Math.min(GRID_LINES, top);
  return (
    <>
      {Array.from({ length: lines + 1 }, (_, i) => (top / lines) * i).map((value) => (
        <>
          <line
            class="grid"
            x1={layout.left}
            x2={layout.width}
            y1={yOf(layout, value, top)}
            y2={yOf(layout, value, top)}
          />
          <text x={layout.left - 8} y={yOf(layout, value, top) + 4} text-anchor="end">
            {formatCompact(value)}
          </text>
        </>
      ))}
    </>
  );
}

function DayLabels({ layout, days }: { layout: Layout; days: string[] }) {
  const every = Math.ceil(days.length / layout.labels);
  const slot = (layout.width - layout.left) / days.length;
  return (
    <>
      {days.map((day, i) =>
        i % every === 0 ? (
          <text
            x={layout.left + (i === 0 ? 0 : slot * (i + 0.5))}
            y={layout.height - 4}
            text-anchor={i === 0 ? "start" : "middle"}
          >
            {day.slice(5).replace("-", "/")}
          </text>
        ) : null,
      )}
    </>
  );
}

/** A chart in both layouts, of which the style sheet shows one. */
function Chart({ title, children }: { title: string; children: (layout: Layout) => Child }) {
  return (
    <>
      {LAYOUTS.map((layout) => (
        <svg
          class={`chart ${layout.name}`}
          viewBox={`0 0 ${layout.width} ${layout.height}`}
          role="img"
          aria-label={title}
        >
          {children(layout)}
        </svg>
      ))}
    </>
  );
}

/** A bar chart with one bar per day. */
export function DayBars({ points, unit, title }: { points: Point[]; unit: string; title: string }) {
  if (points.every(({ value }) => value === 0)) return <p class="soft">No {unit} in these days.</p>;
  const top = niceCeiling(Math.max(0, ...points.map(({ value }) => value)));
  return (
    <figure class="figure-chart">
      <Chart title={title}>
        {(layout) => {
          const slot = (layout.width - layout.left) / Math.max(1, points.length);
          return (
            <>
              <Grid layout={layout} top={top} />
              {points.map(({ day, value }, i) => (
                <rect
                  class="bar"
                  x={layout.left + slot * i + slot * 0.14}
                  width={slot * 0.72}
                  y={yOf(layout, value, top)}
                  height={Math.max(value > 0 ? 1.5 : 0, TOP + plotHeight(layout) - yOf(layout, value, top))}
                  rx="1.5"
                >
                  <title>{`${day}: ${formatCount(value)} ${unit}`}</title>
                </rect>
              ))}
              <DayLabels layout={layout} days={points.map(({ day }) => day)} />
            </>
          );
        }}
      </Chart>
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
  const title = `Credits of this month: ${formatCount(last)} so far, about ${formatCount(projected)} expected, ${formatCount(limit)} available`;
  return (
    <figure class="figure-chart">
      <Chart title={title}>
        {(layout) => {
          const { width, height, left } = layout;
          const x = (i: number) => left + ((width - left) / daysInMonth) * (i + 1);
          const y = (value: number) => yOf(layout, value, top);
          const path = points.map(({ value }, i) => `L${x(i).toFixed(1)} ${y(value).toFixed(1)}`);
          return (
            <>
              <Grid layout={layout} top={top} />
              {showsLimit && (
                <>
                  <line class="limit" x1={left} x2={width} y1={y(limit)} y2={y(limit)} />
                  <text x={width - 4} y={y(limit) - 5} text-anchor="end">
                    quota {formatCompact(limit)}
                  </text>
                </>
              )}
              <path class="line" d={[`M${left} ${y(0)}`, ...path].join(" ")} />
              {points.length < daysInMonth && (
                <path
                  class="projected"
                  d={`M${x(points.length - 1)} ${y(last)} L${x(daysInMonth - 1)} ${y(projected)}`}
                />
              )}
              <text x={left} y={height - 4}>
                1st
              </text>
              <text x={width} y={height - 4} text-anchor="end">
                {daysInMonth}th
              </text>
            </>
          );
        }}
      </Chart>
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
