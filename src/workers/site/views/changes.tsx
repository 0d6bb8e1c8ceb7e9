import { structuredPatch } from "diff";
import { raw } from "hono/html";
import { escapeHtml } from "../../../lib/html.ts";
import { formatCount } from "./format.ts";
import { Empty } from "./parts.tsx";

/** Lines around a change that are shown. */
const CONTEXT = 3;
/** Lines that may differ: the work grows with their square, and more are not read as a list of changes. */
const MAX_CHANGED = 1_000;

/** A text, and the page that has its lines at `#L<number>`. */
interface Side {
  text: string;
  page: string;
}

/** The lines in which two texts differ, with some around them; each with its numbers, which lead to the texts. */
export function Changes({ path, before, after }: { path: string; before: Side; after: Side }) {
  if (before.text === after.text) return <Empty title="Nothing has changed" />;
  const options = { context: CONTEXT, maxEditLength: MAX_CHANGED };
  const patch = structuredPatch(path, path, before.text, after.text, "", "", options);
  if (patch === undefined)
    return (
      <Empty title="Too much has changed">
        <p>More than {formatCount(MAX_CHANGED)} lines differ.</p>
      </Empty>
    );
  return (
    <section class="code changes" tabindex={0} aria-label={`Changes of ${path}`}>
      <pre>
        <code>
          {raw(patch.hunks.map((hunk) => hunkHtml(hunk, before.page, after.page)).join('<span class="gap">…</span>\n'))}
        </code>
      </pre>
    </section>
  );
}

type Hunk = NonNullable<ReturnType<typeof structuredPatch>>["hunks"][number];

function hunkHtml({ oldStart, newStart, lines }: Hunk, before: string, after: string): string {
  let [old, now] = [oldStart, newStart];
  return lines
    .map((line) => {
      const text = escapeHtml(line.slice(1));
      if (line.startsWith("-")) return `${numberHtml(old++, before)}${NO_NUMBER}<del>${text}</del>\n`;
      if (line.startsWith("+")) return `${NO_NUMBER}${numberHtml(now++, after)}<ins>${text}</ins>\n`;
      // "\ No newline at end of file" is of no line.
      return line.startsWith("\\") ? "" : `${numberHtml(old++, before)}${numberHtml(now++, after)} ${text}\n`;
    })
    .join("");
}

const NO_NUMBER = '<span class="line-no"></span>';

function numberHtml(line: number, page: string): string {
  return `<a class="line-no" href="${escapeHtml(page)}#L${line}" tabindex="-1">${line}</a>`;
}
