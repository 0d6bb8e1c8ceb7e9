/** Answers of search and exact search as pages show them. */
import type { GrepResponse } from "../../../contract/exact.ts";
import type { SearchResponse } from "../../../contract/search.ts";
import { codeUrl, hostUrl, type Place } from "../app/code.ts";
import type { DashboardContext } from "../app/context.ts";
import { GrepNotes, SearchNotes } from "./answer-notes.tsx";
import { Code, marksOf } from "./code.tsx";
import { formatCount, formatNumberOf } from "./format.ts";
import { Empty, Time } from "./parts.tsx";
import { reasonText } from "./reasons.ts";
import { Commit } from "./state.tsx";

type Result = SearchResponse["results"][number];
type Match = GrepResponse["matches"][number];

interface ResultsProps<Answer> {
  c: DashboardContext;
  answer: Answer;
  /** Results before this page. */
  from: number;
  /** The ref that was asked for. */
  forRef: string | undefined;
}

/** What is shown of a file that several repositories have at the same path, such as a fork and its origin: once, with the others named. */
function onceEach<T>(items: readonly T[], keyOf: (item: T) => unknown[]): { item: T; others: T[] }[] {
  const groups = Map.groupBy(items, (item) => JSON.stringify(keyOf(item)));
  return [...groups.values()].map(([item, ...others]) => ({ item: item as T, others }));
}

/** Results that agree in all of this, the score among it, have the same content: it depends on nothing but the file. */
const resultKey = ({ path, language, startLine, endLine, symbol, score }: Result) => [
  path,
  language,
  startLine,
  endLine,
  symbol,
  score,
];

/** Ranked results: one file each. */
export function Results({ c, answer, from, forRef }: ResultsProps<SearchResponse>) {
  const { results, indexes, total } = answer;
  if (results.length === 0) {
    return (
      <>
        <SearchNotes {...answer} isEmpty />
        <section class="panel">
          <Empty title="Nothing found">
            <p>
              Try fewer or other words. Identifiers are found by their parts, so “close session” finds closeSession.
            </p>
          </Empty>
        </section>
      </>
    );
  }
  const ages = new Map(indexes.map((index) => [index.workspaceId, index.indexedAt]));
  return (
    <>
      <SearchNotes {...answer} />
      <p class="soft" role="status">
        {formatCount(from + 1)}–{formatCount(from + results.length)} of {formatCount(total)}{" "}
        {total === 1 ? "file" : "files"} from {formatCount(indexes.length)}{" "}
        {indexes.length === 1 ? "repository" : "repositories"}
      </p>
      {onceEach(results, resultKey).map(({ item: result, others }) => (
        <article class="panel result">
          <FileHead
            c={c}
            place={{ ...result, ref: forRef }}
            others={others.map((other) => ({ ...other, ref: forRef }))}
            gitSha={result.gitSha}
            indexedAt={ages.get(result.workspaceId)}
          >
            {result.symbol && (
              <span class="small">
                <span class="tag">{result.symbol.kind}</span> <code>{result.symbol.qualifiedName}</code>
              </span>
            )}
          </FileHead>
          {result.excerpts.map((excerpt) => (
            <Code
              text={excerpt.text}
              language={result.language}
              firstLine={excerpt.startLine}
              label={`${result.path}, line ${excerpt.startLine}`}
              marks={marksOf(excerpt.text, excerpt.startLine, wordsOf(result))}
              best={result}
              page={codeUrl(c, { ...result, ref: forRef, startLine: undefined, endLine: undefined })}
            />
          ))}
        </article>
      ))}
    </>
  );
}

/** Words that the file was found by. */
const wordsOf = ({ matched }: Result): string[] =>
  matched.flatMap(({ kind, text }) => (kind === "similarity" || kind === "path" ? [] : [text]));

/** Lines that match, by file. */
export function ExactResults({ c, answer, from, forRef }: ResultsProps<GrepResponse>) {
  const { matches, total, complete, coverage, indexes } = answer;
  const ages = new Map(indexes.map((index) => [index.workspaceId, index.indexedAt]));
  const files = [...Map.groupBy(matches, ({ workspaceId, path }) => `${workspaceId} ${path}`).values()];
  const left = Object.entries(coverage.notSearched).filter(([, count]) => count > 0);
  return (
    <>
      <p class="soft" role="status">
        {matches.length === 0 ? "No line" : `Lines ${formatCount(from + 1)}–${formatCount(from + matches.length)}`} of{" "}
        {complete ? "" : "at least "}
        {formatCount(total.lines)} in {formatNumberOf(total.files, "file")}; {formatNumberOf(coverage.files, "file")}{" "}
        {coverage.files === 1 ? "was" : "were"} searched
        {coverage.withheldLines > 0 &&
          `, not searched: ${formatNumberOf(coverage.withheldLines, "line")} that may hold secrets`}
        {left.length > 0 &&
          ` (not searched: ${left.map(([reason, count]) => `${formatCount(count)} ${reasonText(reason)}`).join(", ")})`}
        .
      </p>
      <GrepNotes {...answer} pageOf={(file) => codeUrl(c, { ...file, ref: forRef })} />
      {onceEach(files, (lines) => lines.map(({ path, line, text }) => [path, line, text])).map(
        ({ item: lines, others }) => {
          const [first] = lines as [(typeof lines)[number], ...typeof lines];
          return (
            <article class="panel result">
              <FileHead
                c={c}
                place={{ ...first, startLine: first.line, endLine: first.line, ref: forRef }}
                others={others.flatMap(([same]) => (same ? [{ ...same, startLine: same.line, ref: forRef }] : []))}
                gitSha={first.gitSha}
                indexedAt={ages.get(first.workspaceId)}
              />
              {partsOf(lines).map(({ firstLine, text, marks }) => (
                <Code
                  text={text.join("\n")}
                  language=""
                  firstLine={firstLine}
                  label={`${first.path}, line ${firstLine}`}
                  marks={(line) => marks.get(line) ?? []}
                  page={codeUrl(c, { ...first, ref: forRef, endLine: undefined })}
                />
              ))}
            </article>
          );
        },
      )}
    </>
  );
}

interface Part {
  firstLine: number;
  text: string[];
  marks: Map<number, [number, number][]>;
}

/** Matches of a file with their context, those that touch in one part. */
function partsOf(matches: readonly Match[]): Part[] {
  const parts: Part[] = [];
  for (const match of matches) {
    const firstLine = match.line - match.before.length;
    const last = parts.at(-1);
    const part =
      last && firstLine <= last.firstLine + last.text.length ? last : { firstLine, text: [], marks: new Map() };
    if (part !== last) parts.push(part);
    for (const [i, text] of [...match.before, match.text, ...match.after].entries())
      part.text[firstLine + i - part.firstLine] ??= text;
    // A match over several lines is shown whole; its columns are of the first.
    if (match.endLine === undefined) part.marks.set(match.line, columnsOf(match));
  }
  return parts;
}

/** Columns of the matches in the text that is shown, from 0. */
function columnsOf({ ranges, textStart = 1, text }: Match): [number, number][] {
  return ranges.flatMap(([from = 1, to = 1]): [number, number][] => {
    const range: [number, number] = [Math.max(0, from - textStart), Math.min(text.length, to - textStart)];
    return range[0] < range[1] ? [range] : [];
  });
}

function FileHead({
  c,
  place,
  others,
  gitSha,
  indexedAt,
  children,
}: {
  c: DashboardContext;
  place: Place;
  /** The same lines in other repositories. */
  others: Place[];
  gitSha: string;
  indexedAt: string | undefined;
  children?: unknown;
}) {
  const host = hostUrl(place.repo, gitSha, place.path);
  return (
    <header>
      <h2>
        <a href={codeUrl(c, place)} data-result>
          {place.path}:{place.startLine}
        </a>
      </h2>
      {children}
      <span class="soft small">
        {place.repo} <Commit repo={place.repo} sha={gitSha} /> indexed <Time at={indexedAt ?? null} />
        {host !== undefined && (
          <>
            {" · "}
            <a href={`${host}#L${place.startLine}`} rel="noreferrer">
              open at the host
            </a>
          </>
        )}
      </span>
      {others.length > 0 && (
        <span class="same small">
          The same in{" "}
          {others.map((other, i) => (
            <>
              {i > 0 && ", "}
              <a href={codeUrl(c, { ...other, endLine: undefined })}>{other.repo ?? other.workspaceId}</a>
            </>
          ))}
        </span>
      )}
    </header>
  );
}
