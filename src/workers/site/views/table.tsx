/** Tables, each in a region that scrolls sideways if it is too wide. */
import type { Child } from "hono/jsx";
import { Time } from "./parts.tsx";

/** Heading of a column: `num` aligns it to the right, like numbers; `sr` shows it to screen readers only. */
type Heading = string | { num: string } | { sr: string };

/** Heading of a column of buttons. */
export const ACTIONS: Heading = { sr: "Actions" };

/** A table; `children` are its rows. */
export function Table({
  label,
  headings,
  children,
}: {
  label: string;
  headings: readonly Heading[];
  children?: Child;
}) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>{headings.map(headingCell)}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function headingCell(heading: Heading) {
  if (typeof heading === "string") return <th scope="col">{heading}</th>;
  if ("sr" in heading) {
    return (
      <th scope="col">
        <span class="sr">{heading.sr}</span>
      </th>
    );
  }
  return (
    <th scope="col" class="num">
      {heading.num}
    </th>
  );
}

/** A cell with a relative time. */
export function TimeCell({ at }: { at: Date | string | null }) {
  return (
    <td>
      <Time at={at} />
    </td>
  );
}
