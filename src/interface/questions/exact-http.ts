/** Answers of exact search in the contract's form, as HTTP and `--json` give them. */
import type { CoverageResponse, FilesResponse, GrepResponse } from "../../contract/exact.ts";
import type { GrepAnswer } from "../../engines/exact/types.ts";
import type { Answered } from "./code-index.ts";
import type { CoverageAnswer, FilesAnswer } from "./exact.ts";
import { type Hosted, indexesOf } from "./http.ts";

export function grepResponse(answer: Answered<GrepAnswer, Hosted>): GrepResponse {
  const { matches, files, total, complete, coverage, gaps, withheldIn, truncated } = answer;
  const ownerOf = (revision: number) => {
    const { repo, workspaceId } = answer.indexes[revision] as Hosted;
    return { repo, workspaceId };
  };
  return {
    ok: true,
    matches: matches.map(({ revision, path, line, endLine, ranges, text, textStart, before, after, enclosing }) =>
      Object.assign(ownerOf(revision), {
        gitSha: (answer.indexes[revision] as Hosted).gitSha,
        path,
        line,
        ...(endLine !== undefined && { endLine }),
        ranges: ranges.map(([from, to]) => [from, to]),
        text,
        ...(textStart !== undefined && { textStart }),
        before: [...before],
        after: [...after],
        enclosing,
      }),
    ),
    ...(files && {
      files: files.map(({ revision, path, lines }) => Object.assign(ownerOf(revision), { path, lines })),
    }),
    total,
    complete,
    gaps: gaps.map(({ revision, path, reason }) => Object.assign(ownerOf(revision), { path, reason })),
    withheldIn: withheldIn.map(({ revision, path, lines }) => Object.assign(ownerOf(revision), { path, lines })),
    coverage: { ...coverage, notSearched: { ...coverage.notSearched } },
    indexes: indexesOf(answer),
    truncated,
  };
}

export function coverageResponse(answer: Answered<CoverageAnswer, Hosted>): CoverageResponse {
  const { indexed, searchedOnly, notSearched, path, paths, truncated, next } = answer;
  const indexes = indexesOf(answer);
  const more = next === undefined ? {} : { next };
  return { ok: true, indexed, searchedOnly, notSearched, ...(path && { path }), paths, truncated, ...more, indexes };
}

export function filesResponse(answer: Answered<FilesAnswer, Hosted>): FilesResponse {
  const { files, folders, next } = answer;
  return { ok: true, files, folders, ...(next !== undefined && { next }), indexes: indexesOf(answer) };
}
