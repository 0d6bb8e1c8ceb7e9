/** Search over the team's repositories: ranked, or every line that matches a text or a regular expression. */
import { Hono } from "hono";
import type { GrepResponse } from "../../../contract/exact.ts";
import type { SearchResponse } from "../../../contract/search.ts";
import { listRepositoryNames } from "../../../service/dashboard/repositories.ts";
import { LANGUAGES } from "../../../engines/parsing/languages.ts";
import { typedGlob } from "../../../lib/globs.ts";
import { visible } from "../../../lib/display.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { askCode, tryCode } from "../app/code.ts";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { invalid } from "../app/answers.tsx";
import { tenantPage, tenantPageInTwo } from "../views/layout.tsx";
import { Empty, Field, Head, Select } from "../views/parts.tsx";
import { ExactResults, Results } from "../views/results.tsx";

export const searchPages = new Hono<DashboardHono>();
export const searchApi = new Hono<DashboardHono>();

const RESULTS = 10;
const LINES = 100;
const EXACT_CONTEXT = 1;
/** The last result that a page may begin with, as the question allows. */
const MAX_OFFSET = 1_000;
/** Less than elsewhere: the query is a part of the page's address. */
export const MAX_QUERY_CHARACTERS = 2_000;

/** `ranked`: by meaning. The others find every line: `text` takes the query as it is, `regex` as a regular expression. */
const MODES = [
  ["ranked", "best matches"],
  ["text", "every line with this text"],
  ["regex", "every line, regular expression"],
] as const;
type Mode = (typeof MODES)[number][0];

/** A search as the page's address says it. */
interface Asked {
  query: string;
  mode: Mode;
  repo: string;
  ref: string;
  language: string;
  path: string;
  isCaseFree: boolean;
  isWord: boolean;
  offset: number;
}

function askedOf(c: DashboardContext): Asked {
  const text = (name: string): string => c.req.query(name)?.trim() ?? "";
  const mode = MODES.find(([value]) => value === text("mode"))?.[0] ?? "ranked";
  const offset = Number(text("offset"));
  return {
    query: text("q"),
    mode,
    repo: text("repo"),
    ref: text("ref"),
    language: text("lang"),
    path: text("path"),
    isCaseFree: text("case") === "any",
    isWord: text("word") === "whole",
    offset: Number.isInteger(offset) && offset > 0 && offset <= MAX_OFFSET ? offset : 0,
  };
}

/** As the question allows, with the wildcard that a beginning of a path gets. */
const MAX_PATH_CHARACTERS = 499;

/** What the questions share. Throws `INVALID_BODY` for a query that no question takes. */
function scopeOf({ query, repo, ref, language, path, offset }: Asked): Record<string, unknown> {
  if (query.length > MAX_QUERY_CHARACTERS || !query.isWellFormed() || query.includes("\0"))
    throw invalid("q", `expected at most ${MAX_QUERY_CHARACTERS} characters of text`);
  return {
    offset,
    ...(repo !== "" && (isUuid(repo) ? { workspaceId: repo } : { repo })),
    ...(ref !== "" && { ref }),
    ...(language !== "" && { languages: [language] }),
    ...(path !== "" && { paths: [typedGlob(path)] }),
  };
}

const rankedRequest = (asked: Asked) => ({ ...scopeOf(asked), query: asked.query, limit: RESULTS });

const exactRequest = (asked: Asked) => ({
  ...scopeOf(asked),
  pattern: asked.query,
  fixedStrings: asked.mode === "text",
  ignoreCase: asked.isCaseFree,
  wordRegexp: asked.isWord,
  context: EXACT_CONTEXT,
  limit: LINES,
});

/** Asks the question. Throws `DashboardError` if it is refused. */
async function answerOf(c: DashboardContext, asked: Asked): Promise<SearchResponse | GrepResponse> {
  return asked.mode === "ranked" ? askCode(c, "search", rankedRequest(asked)) : askCode(c, "grep", exactRequest(asked));
}

searchPages.get("/search", async (c) => {
  const asked = askedOf(c);
  const { tenantId, slug } = c.get("membership");
  const names = await listRepositoryNames(c.get("db"), tenantId);
  const title = asked.query === "" ? "Search" : `${asked.query.slice(0, 60)} · Search`;
  const top = (
    <>
      <Head title="Search" text="The same search that your agents use: words, identifiers, or a whole error message." />
      <SearchForm asked={asked} names={names} pathsUrl={`/app/api/tenants/${slug}/search/paths`} />
      {names.length === 0 && (
        <section class="panel">
          <Empty title="Nothing to search yet">
            <p>A repository can be searched once its first index run is done.</p>
            <a class="button primary" href={tenantPath(c, "repositories")}>
              Repositories
            </a>
          </Empty>
        </section>
      )}
    </>
  );
  if (asked.query === "" || names.length === 0) return tenantPage(c, "search", { title }, top);
  const rest = answerOf(c, asked).then((answer) => <Found c={c} asked={asked} answer={answer} />);
  return tenantPageInTwo(c, "search", { title, rest }, top);
});

interface FormProps {
  asked: Asked;
  names: readonly string[];
  /** Where the script asks for paths to complete `path:` with. */
  pathsUrl: string;
}

/** The filters that are set, for when their fields are hidden: below a query they would fill the screen of a phone. */
const filtersOf = ({ repo, ref, path, language, isCaseFree, isWord }: Asked): string[] =>
  [repo, ref, path, language, isCaseFree ? "any case" : "", isWord ? "whole words" : ""].filter((part) => part !== "");

function SearchForm({ asked, names, pathsUrl }: FormProps) {
  return (
    <form method="get" class="panel" role="search">
      <div class="body">
        <div class="row">
          <Field
            label="Query"
            name="q"
            hint={
              <>
                <code>"quoted text"</code>, <code>path:src/api</code> and <code>lang:go</code> narrow a search for the
                best matches.
              </>
            }
          >
            <input
              id="field-q"
              name="q"
              type="search"
              value={asked.query}
              maxlength={MAX_QUERY_CHARACTERS}
              aria-describedby="field-q-hint"
              list="completions"
              autocomplete="off"
              data-search
              autofocus
            />
            <datalist id="completions" data-paths={pathsUrl}></datalist>
          </Field>
          <Select label="Find" name="mode" value={asked.mode} options={MODES} />
          <button type="submit" class="primary">
            Search
          </button>
        </div>
        <details open={asked.query === ""}>
          <summary>{["Filters", filtersOf(asked).join(", ")].filter((part) => part !== "").join(": ")}</summary>
          <div class="row">
            <Field label="Repository" name="repo">
              <input id="field-repo" type="text" name="repo" value={asked.repo} list="repositories" placeholder="all" />
              <datalist id="repositories">
                {names.map((name) => (
                  <option value={name}></option>
                ))}
              </datalist>
            </Field>
            <Field label="Branch, tag or commit" name="ref" value={asked.ref} placeholder="current" maxlength={255} />
            <Field label="Path" name="path" value={asked.path} placeholder="src/api" maxlength={MAX_PATH_CHARACTERS} />
            <Field label="Language" name="lang">
              <input
                id="field-lang"
                type="text"
                name="lang"
                value={asked.language}
                placeholder="any"
                maxlength={64}
                list="languages"
                autocomplete="off"
              />
              <datalist id="languages">
                {LANGUAGES.map(({ id }) => (
                  <option value={id}></option>
                ))}
              </datalist>
            </Field>
          </div>
          <div class="row">
            <label class="toggle">
              <input type="checkbox" name="case" value="any" checked={asked.isCaseFree} /> Any case
            </label>
            <label class="toggle">
              <input type="checkbox" name="word" value="whole" checked={asked.isWord} /> Whole words
            </label>
            <span class="hint">These two apply to every line with a text or expression.</span>
          </div>
        </details>
      </div>
    </form>
  );
}

function Found({ c, asked, answer }: { c: DashboardContext; asked: Asked; answer: SearchResponse | GrepResponse }) {
  const ref = asked.ref === "" ? undefined : asked.ref;
  const isExact = "matches" in answer;
  const end = asked.offset + (isExact ? answer.matches.length : answer.results.length);
  const hasNext = answer.truncated && end > asked.offset && end <= MAX_OFFSET;
  return (
    <>
      {isExact ? (
        <ExactResults c={c} answer={answer} from={asked.offset} forRef={ref} />
      ) : (
        <Results c={c} answer={answer} from={asked.offset} forRef={ref} />
      )}
      {(asked.offset > 0 || hasNext) && (
        <nav class="pager" aria-label="Pages">
          {asked.offset === 0 ? <span /> : <a href={pageAt(c, 0)}>First page</a>}
          {hasNext ? <a href={pageAt(c, end)}>Next page</a> : <span />}
        </nav>
      )}
    </>
  );
}

/** The same search from another result on. */
function pageAt(c: DashboardContext, offset: number): string {
  const search = new URL(c.req.url).searchParams;
  if (offset === 0) search.delete("offset");
  else search.set("offset", String(offset));
  return `?${search.toString()}`;
}

/** Entries of a folder that are offered. */
const COMPLETIONS = 200;

/** The folders and files of a folder, for the script that completes `path:`: of the repository that is named, or of the only one. */
searchApi.get("/search/paths", async (c) => {
  const named = c.req.query("repo")?.trim() ?? "";
  const names = named === "" ? await listRepositoryNames(c.get("db"), c.get("membership").tenantId) : [named];
  const [repo = ""] = names;
  if (names.length !== 1) return c.json({ ok: true, paths: [] });
  const folder = c.req.query("folder") ?? "";
  const ref = c.req.query("ref")?.trim() ?? "";
  const listed = await tryCode(c, "files", {
    ...(isUuid(repo) ? { workspaceId: repo } : { repo }),
    ...(folder !== "" && { path: folder }),
    ...(ref !== "" && { ref }),
    depth: "1",
    limit: String(COMPLETIONS),
  });
  const paths =
    listed instanceof DashboardError
      ? []
      : [...listed.folders.map(({ path }) => `${path.replace(/\/$/, "")}/`), ...listed.files.map(({ path }) => path)];
  // The browser shows suggestions as they are, so a path with characters that are not seen would look like another one.
  return c.json({ ok: true, paths: paths.filter((path) => visible(path) === path) });
});

searchApi.get("/search", async (c) => {
  const asked = askedOf(c);
  return c.json(await answerOf(c, asked));
});
