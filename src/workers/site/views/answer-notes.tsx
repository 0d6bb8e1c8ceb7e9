/** What an answer says of itself: what words were taken for, what was not searched, and how far the results can be trusted. */
import type { GrepResponse } from "../../../contract/exact.ts";
import type { SearchResponse } from "../../../contract/search.ts";
import { formatCount } from "./format.ts";
import { reasonText } from "./reasons.ts";

/** Repositories without an answer that are named. */
const MAX_NAMED = 5;

/** Of ranked results; with `isEmpty` of an answer without any. */
export function SearchNotes({
  understood = [],
  weak,
  degraded,
  leftOut = [],
  isEmpty = false,
}: Pick<SearchResponse, "understood" | "weak" | "degraded" | "leftOut"> & { isEmpty?: boolean }) {
  return (
    <>
      {understood.length > 0 && (
        <p class="soft">
          Understood{" "}
          <List
            items={understood.map(({ word, as }) => (
              <>
                <code>{word}</code> as <code>{as}</code>
              </>
            ))}
          />
          .
        </p>
      )}
      {leftOut.length > 0 && (
        <p role="alert">
          Not searched, because their index is being rewritten:{" "}
          <List items={leftOut.slice(0, MAX_NAMED).map(({ repo, workspaceId }) => repo ?? workspaceId)} />
          {leftOut.length > MAX_NAMED && ` and ${formatCount(leftOut.length - MAX_NAMED)} more`}. Search again in ten
          seconds.
        </p>
      )}
      {degraded !== undefined && <p class="soft">Ranked without {degraded}, which is not available now.</p>}
      {weak !== undefined && (weak.unknown.length > 0 || !isEmpty) && (
        <p>
          {!isEmpty && (
            <>
              <strong>Nothing matches well.</strong>{" "}
            </>
          )}
          {weak.unknown.length > 0 && (
            <>
              In none of the {formatCount(weak.files)} searched files:{" "}
              <List
                items={weak.unknown.map((word) => (
                  <code>{word}</code>
                ))}
              />
              .{" "}
            </>
          )}
          {!isEmpty && "These files come nearest."}
        </p>
      )}
    </>
  );
}

type WithheldFile = NonNullable<GrepResponse["withheldIn"]>[number];

interface GrepNotesProps extends Pick<GrepResponse, "gaps" | "withheldIn" | "coverage"> {
  /** Address of the page of a file. */
  pageOf: (file: WithheldFile) => string;
}

/** Of exact search: the files that keep it from being complete, and those with withheld lines. */
export function GrepNotes({ gaps = [], withheldIn = [], coverage, pageOf }: GrepNotesProps) {
  const missing = Object.values(coverage.notSearched).reduce((sum, count) => sum + count, 0);
  return (
    <>
      {gaps.length > 0 && (
        <details>
          <summary>Files that were not searched{ofAll(gaps.length, missing)}</summary>
          <ul>
            {gaps.map(({ repo, path, reason }) => (
              <li>
                {repo} {path}: {reasonText(reason)}
              </li>
            ))}
          </ul>
        </details>
      )}
      {withheldIn.length > 0 && (
        <details>
          <summary>Files with lines that may hold secrets</summary>
          <ul>
            {withheldIn.map((file) => (
              <li>
                {file.repo} <a href={pageOf(file)}>{file.path}</a>: {formatCount(file.lines)}{" "}
                {file.lines === 1 ? "line" : "lines"}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const ofAll = (shown: number, all: number) => (shown < all ? ` (${formatCount(shown)} of ${formatCount(all)})` : "");

function List({ items }: { items: readonly unknown[] }) {
  return (
    <>
      {items.map((item, i) => (
        <>
          {i > 0 && ", "}
          {item}
        </>
      ))}
    </>
  );
}
