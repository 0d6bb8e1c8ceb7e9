/** Search over the team's repositories. */
import { Hono } from "hono";
import type { DashboardSearchApi } from "../../api/dashboard-search.ts";
import type { ErrorCode } from "../../../contract/errors.ts";
import type { SearchResponse } from "../../../contract/search.ts";
import { listRepositories } from "../../../service/dashboard/repositories.ts";
import type { DashboardContext, DashboardHono } from "../app/context.ts";
import { tenantPath } from "../app/context.ts";
import { DashboardError, type DashboardErrorCode } from "../app/errors.ts";
import { invalid } from "../app/answers.tsx";
import { Code } from "../views/code.tsx";
import { formatCount } from "../views/format.ts";
import { tenantPage } from "../views/layout.tsx";
import { Empty, Head, Select, Time } from "../views/parts.tsx";
import { Commit, commitUrl } from "../views/state.tsx";

export const searchPages = new Hono<DashboardHono>();
export const searchApi = new Hono<DashboardHono>();

const RESULTS = 15;
/** Less than elsewhere: the query is a part of the page's address. */
const MAX_QUERY_CHARACTERS = 2_000;

/** Errors of a search that are not about something missing. */
const CODES: Partial<Record<ErrorCode, DashboardErrorCode>> = {
  INVALID_BODY: "INVALID_BODY",
  INVALID_SELECTOR: "INVALID_BODY",
  UNAVAILABLE: "UNAVAILABLE",
};

type Result = SearchResponse["results"][number];

searchPages.get("/search", async (c) => {
  const query = c.req.query("q")?.trim() ?? "";
  const repo = c.req.query("repo") ?? "";
  const repositories = await listRepositories(c.get("db"), c.get("membership").tenantId);
  const indexed = repositories.filter(({ index }) => index !== null);
  const outcome = query === "" || indexed.length === 0 ? undefined : await attempt(c, query, repo);
  return tenantPage(
    c,
    "search",
    { title: "Search" },
    <>
      <Head title="Search" text="The same search that your agents use: words, identifiers, or a whole error message." />
      <form method="get" class="panel" role="search">
        <div class="body">
          <div class="row">
            <div class="field">
              <label for="field-q">Query</label>
              <input
                id="field-q"
                name="q"
                type="search"
                value={query}
                maxlength={MAX_QUERY_CHARACTERS}
                data-search
                autofocus
              />
            </div>
            <Select
              label="Repository"
              name="repo"
              value={repo}
              options={[["", "all"], ...indexed.map((one) => [one.workspaceId, one.repo ?? one.workspaceId] as const)]}
            />
            <button class="primary">Search</button>
          </div>
        </div>
      </form>
      {indexed.length === 0 && (
        <section class="panel">
          <Empty title="Nothing to search yet">
            <p>A repository can be searched once its first index run is done.</p>
            <a class="button primary" href={tenantPath(c, "repositories")}>
              Repositories
            </a>
          </Empty>
        </section>
      )}
      {outcome instanceof DashboardError && (
        <p class="notice error" role="alert">
          {outcome.message}
        </p>
      )}
      {outcome !== undefined && !(outcome instanceof DashboardError) && <Results answer={outcome} />}
    </>,
  );
});

function Results({ answer }: { answer: SearchResponse }) {
  const { results, indexes, truncated } = answer;
  if (results.length === 0) {
    return (
      <section class="panel">
        <Empty title="Nothing found">
          <p>Try fewer or other words. Identifiers are found by their parts, so “close session” finds closeSession.</p>
        </Empty>
      </section>
    );
  }
  const ages = new Map(indexes.map((index) => [index.workspaceId, index.indexedAt]));
  return (
    <>
      <p class="soft" role="status">
        {formatCount(results.length)} {results.length === 1 ? "result" : "results"} from {formatCount(indexes.length)}{" "}
        {indexes.length === 1 ? "repository" : "repositories"}
        {truncated && "; there are more"}
      </p>
      {results.map((result) => (
        <article class="panel result">
          <header>
            <h2>{link(result)}</h2>
            {result.symbol && (
              <span class="small">
                <span class="tag">{result.symbol.kind}</span> <code>{result.symbol.qualifiedName}</code>
              </span>
            )}
            <span class="soft small">
              {result.repo} <Commit repo={result.repo} sha={result.gitSha} /> indexed{" "}
              <Time at={ages.get(result.workspaceId) ?? null} />
            </span>
          </header>
          {result.excerpts.map((excerpt) => (
            <Code
              text={excerpt.text}
              language={result.language}
              firstLine={excerpt.startLine}
              label={`${result.path}, line ${excerpt.startLine}`}
            />
          ))}
        </article>
      ))}
    </>
  );
}

/** The location of a result, linked to its git host if that is known. */
function link({ repo, gitSha, path, startLine, endLine }: Result) {
  const place = `${path}:${startLine}`;
  const commit = commitUrl(repo, gitSha);
  if (commit === undefined || repo === null) return place;
  const file = path.split("/").map(encodeURIComponent).join("/");
  const urls: Record<string, string> = {
    "github.com": `https://${repo}/blob/${gitSha}/${file}#L${startLine}-L${endLine}`,
    "gitlab.com": `https://${repo}/-/blob/${gitSha}/${file}#L${startLine}-${endLine}`,
    "bitbucket.org": `https://${repo}/src/${gitSha}/${file}#lines-${startLine}:${endLine}`,
  };
  return (
    <a href={urls[repo.split("/")[0] ?? ""] ?? commit} rel="noreferrer">
      {place}
    </a>
  );
}

/** Runs a search; returns its answer or the error. */
async function attempt(c: DashboardContext, query: string, repo: string): Promise<SearchResponse | DashboardError> {
  try {
    return await runSearch(c, query, repo);
  } catch (error) {
    if (error instanceof DashboardError) return error;
    throw error;
  }
}

async function runSearch(c: DashboardContext, query: string, workspaceId: string): Promise<SearchResponse> {
  if (query.length > MAX_QUERY_CHARACTERS || !query.isWellFormed() || query.includes("\0")) {
    throw invalid("q", `expected at most ${MAX_QUERY_CHARACTERS} characters of text`);
  }
  const service = c.env.SEARCH as unknown as DashboardSearchApi;
  const answer = await service.search(c.get("membership").tenantId, {
    query,
    limit: RESULTS,
    ...(workspaceId === "" ? {} : { workspaceId }),
  });
  if (answer.ok) return answer;
  throw new DashboardError(CODES[answer.code] ?? "NOT_FOUND", answer.error);
}

searchApi.get("/search", async (c) =>
  c.json(await runSearch(c, c.req.query("q")?.trim() ?? "", c.req.query("repo") ?? "")),
);
