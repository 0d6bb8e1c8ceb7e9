/** Tables, each in a region that scrolls sideways if it is too wide. In a narrow one a row becomes a card, unless the table fits. */
import type { Child } from "hono/jsx";
import { Time } from "./parts.tsx";

/**
 * Heading of a column: `num` aligns it to the right, like numbers; `sr` shows it to screen readers only. A `minor` column is not shown on phones;
 * its cells have the class, too.
 */
type Heading = string | { num: string; minor?: true } | { minor: string } | { sr: string };

/** Heading of a column of buttons. */
export const ACTIONS: Heading = { sr: "Actions" };

/**
 * A table; `children` are its rows. One that `fits` has little enough in its columns for a phone. Of another, cells say with `data-label` what they
 * are about where a card would not tell.
 */
export function Table({
  label,
  headings,
  fits = false,
  children,
}: {
  label: string;
  headings: readonly Heading[];
  fits?: boolean;
  children?: Child;
}) {
  return (
    <section class={fits ? "scroll fits" : "scroll"} tabindex={0} aria-label={label}>
      <table>
        <thead>
          <tr>{headings.map(headingCell)}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
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
  if (!("num" in heading)) {
    return (
      <th scope="col" class="minor">
        {heading.minor}
      </th>
    );
  }
  return (
    <th scope="col" class={heading.minor ? "num minor" : "num"}>
      {heading.num}
    </th>
  );
}

/** A cell with a relative time; `label` is for cards. */
export function TimeCell({ at, minor = false, label }: { at: Date | string | null; minor?: boolean; label?: string }) {
  return (
    <td {...(minor && { class: "minor" })} {...(label !== undefined && { "data-label": label })}>
      <Time at={at} />
    </td>
  );
}
