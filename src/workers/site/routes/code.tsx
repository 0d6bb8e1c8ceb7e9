/** Files and folders of a repository as they are indexed. */
import { Hono } from "hono";
import type { FilesResponse } from "../../../contract/exact.ts";
import type { FileResponse, OutlineResponse, SearchedIndex } from "../../../contract/search.ts";
import { findByLongestName, type KeptRevision, listKeptRevisions } from "../../../service/dashboard/repositories.ts";
import { codeUrl, hostUrl, tryCode } from "../app/code.ts";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { Code } from "../views/code.tsx";
import { formatCount } from "../views/format.ts";
import { tenantPage } from "../views/layout.tsx";
import { Empty, Field, Head, Time } from "../views/parts.tsx";
import { Commit } from "../views/state.tsx";
import { Table, TimeCell } from "../views/table.tsx";
import { NameForm } from "./names.tsx";

export const codePages = new Hono<DashboardHono>();

/** Path segments that a repository's name may have. */
const MAX_NAME_PARTS = 20;
const LISTED = 1_000;

/** A repository of the address, with the path in it. */
interface Asked {
  workspaceId: string;
  repo: string | null;
  path: string;
  ref: string | undefined;
  revisions: KeptRevision[];
}

codePages.get("/code/*", async (c) => {
  const asked = await askedOf(c);
  const scope = { workspaceId: asked.workspaceId, ...(asked.ref !== undefined && { ref: asked.ref }) };
  const cursor = c.req.query("cursor");
  const listing = { depth: "1", limit: String(LISTED), ...(cursor !== undefined && { cursor }) };
  if (asked.path !== "") {
    const [file, outline] = await Promise.all([
      tryCode(c, "file", { ...scope, path: asked.path }),
      tryCode(c, "outline", { ...scope, path: asked.path }),
    ]);
    if (!(file instanceof DashboardError))
      return filePage(c, asked, file, outline instanceof DashboardError ? undefined : outline);
    const folder = await tryCode(c, "files", { ...scope, path: asked.path, ...listing });
    if (folder instanceof DashboardError) throw file;
    return folderPage(c, asked, folder);
  }
  const root = await tryCode(c, "files", { ...scope, ...listing });
  if (root instanceof DashboardError) throw root;
  return folderPage(c, asked, root);
});

/** Throws `NOT_FOUND` if the address names no repository of the team. */
async function askedOf(c: DashboardContext): Promise<Asked> {
  const start = `${tenantPath(c, "code")}/`;
  let parts: string[];
  try {
    parts = new URL(c.req.url).pathname
      .slice(start.length)
      .split("/")
      .map(decodeURIComponent)
      .filter((part) => part !== "");
  } catch {
    throw new DashboardError("NOT_FOUND", "there is no such page");
  }
  const names = parts.slice(0, MAX_NAME_PARTS).map((_, i) => parts.slice(0, i + 1).join("/"));
  const clean = names.filter((name) => name.isWellFormed() && !name.includes("\0"));
  const found = await findByLongestName(c.get("db"), c.get("membership").tenantId, clean);
  if (!found) throw new DashboardError("NOT_FOUND", "the team has no such repository");
  const own = found.repo !== null && parts.join("/").startsWith(found.repo) ? found.repo : found.workspaceId;
  const ref = c.req.query("ref")?.trim();
  return {
    ...found,
    path: parts.slice(own.split("/").length).join("/"),
    ref: ref === "" ? undefined : ref,
    revisions: await listKeptRevisions(c.get("db"), found.workspaceId),
  };
}

function filePage(c: DashboardContext, asked: Asked, file: FileResponse, outline: OutlineResponse | undefined) {
  const { repo, path } = asked;
  const [index] = file.indexes;
  const host = hostUrl(repo, index?.gitSha ?? "", path);
  const withheld = new Map<number, string>();
  for (const [from = 1, to = 0] of file.withheld)
    for (let line = from; line <= to; line++) withheld.set(line, "withheld: this line may hold a secret");
  return tenantPage(
    c,
    "search",
    { title: `${path} · ${repo ?? "Code"}` },
    <>
      <CodeHead c={c} asked={asked} index={index}>
        <span class="soft small">
          {file.language}, {formatCount(file.lineCount)} {file.lineCount === 1 ? "line" : "lines"}
          {withheld.size > 0 && `, ${formatCount(withheld.size)} withheld`}
          {host !== undefined && (
            <>
              {" · "}
              <a href={host} rel="noreferrer">
                open at the host
              </a>
            </>
          )}
        </span>
      </CodeHead>
      <div class="code-page">
        <section class="panel file">
          {file.text === "" && withheld.size === 0 ? (
            <Empty title="The file is empty" />
          ) : (
            <Code
              text={file.text}
              language={file.language}
              firstLine={Math.max(1, file.startLine)}
              label={path}
              page=""
              instead={withheld}
              namePage={namePage(c, asked, "")}
            />
          )}
        </section>
        <aside class="panel outline" aria-label="Outline">
          <div class="body">
            <NameForm c={c} asked={asked} name="" />
            <p class="hint js-only">Or click a name in the code.</p>
          </div>
          {outline !== undefined && outline.outline.length > 0 && (
            <nav aria-label="Symbols of the file">
              <ul>
                {outline.outline.map(({ name, kind, startLine, depth }) => (
                  <li class={`depth-${Math.min(depth, 4)}`}>
                    <a href={`#L${startLine}`}>
                      <code>{name}</code>
                    </a>{" "}
                    <span class="soft small">{kind}</span>
                  </li>
                ))}
              </ul>
            </nav>
          )}
        </aside>
      </div>
    </>,
  );
}

function folderPage(c: DashboardContext, asked: Asked, { files, folders, next, indexes }: FilesResponse) {
  const name = (path: string) => path.replace(/\/$/, "").split("/").at(-1) ?? path;
  return tenantPage(
    c,
    "search",
    { title: `${asked.path === "" ? "Files" : asked.path} · ${asked.repo ?? "Code"}` },
    <>
      <CodeHead c={c} asked={asked} index={indexes[0]} />
      <section class="panel">
        {files.length + folders.length === 0 ? (
          <Empty title="No files" />
        ) : (
          <ul class="tree">
            {folders.map(({ path, files: count }) => (
              <li>
                <a href={codeUrl(c, { ...asked, path })} data-result>
                  {name(path)}/
                </a>{" "}
                <span class="soft small">
                  {formatCount(count)} {count === 1 ? "file" : "files"}
                </span>
              </li>
            ))}
            {files.map(({ path, state, language }) => (
              <li>
                <a href={codeUrl(c, { ...asked, path })} data-result>
                  {name(path)}
                </a>{" "}
                <span class="soft small">{state === "not_searched" ? "not stored" : (language ?? "")}</span>
              </li>
            ))}
          </ul>
        )}
        {(next !== undefined || c.req.query("cursor") !== undefined) && (
          <nav class="pager" aria-label="Pages">
            {c.req.query("cursor") === undefined ? <span /> : <a href={codeUrl(c, asked)}>First page</a>}
            {next === undefined ? <span /> : <a href={folderPageAt(c, next)}>Next {formatCount(LISTED)}</a>}
          </nav>
        )}
      </section>
    </>,
  );
}

/** The same folder from another entry on. */
function folderPageAt(c: DashboardContext, cursor: string): string {
  const search = new URL(c.req.url).searchParams;
  search.set("cursor", cursor);
  return `?${search.toString()}`;
}

/** Title with links to the folders above, and a form to see another revision. */
function CodeHead({
  c,
  asked,
  index,
  children,
}: {
  c: DashboardContext;
  asked: Asked;
  index: SearchedIndex | undefined;
  children?: unknown;
}) {
  const { repo, workspaceId, path, ref } = asked;
  const parts = path === "" ? [] : path.split("/");
  return (
    <>
      <Head
        title={parts.at(-1) ?? repo ?? workspaceId}
        crumb={
          <>
            <a href={codeUrl(c, { ...asked, path: "" })}>{repo ?? workspaceId}</a>
            {parts.slice(0, -1).map((part, i) => (
              <>
                {" / "}
                <a href={codeUrl(c, { ...asked, path: parts.slice(0, i + 1).join("/") })}>{part}</a>
              </>
            ))}
          </>
        }
        text={
          index && (
            <>
              {index.ref} at <Commit repo={repo} sha={index.gitSha} />, indexed <Time at={index.indexedAt} />.{" "}
              <a href={`${tenantPath(c, "repositories")}/${workspaceId}`}>Runs and settings</a>
            </>
          )
        }
      >
        <form method="get" class="row">
          <Field label="Branch, tag or commit" name="ref" fit>
            <input
              id="field-ref"
              name="ref"
              value={ref ?? ""}
              placeholder="current"
              maxlength={255}
              list="refs"
              autocomplete="off"
            />
            <datalist id="refs">
              {asked.revisions
                .flatMap(({ refs }) => refs)
                .map((name) => (
                  <option value={name}></option>
                ))}
            </datalist>
          </Field>
          <button>Show</button>
        </form>
      </Head>
      <History c={c} asked={asked} shown={index?.gitSha} />
      {children}
    </>
  );
}

/** The revisions that are kept, each with this file or folder as it was then. */
function History({ c, asked, shown }: { c: DashboardContext; asked: Asked; shown: string | undefined }) {
  const { repo, revisions } = asked;
  if (revisions.length < 2) return <></>;
  return (
    <details class="panel history" id="history">
      <summary>
        History <span class="soft">{formatCount(revisions.length)} revisions</span>
      </summary>
      <Table label="Revisions" fits headings={["Commit", "Last of", "Indexed", { minor: "Run" }]}>
        {revisions.map(({ gitSha, runId, indexedAt, isCurrent, refs }) => (
          <tr>
            <th scope="row">
              <a href={codeUrl(c, { ...asked, ref: gitSha })} {...(gitSha === shown && { "aria-current": "page" })}>
                <code>{gitSha.slice(0, 8)}</code>
                <span class="sr"> of {repo ?? "the repository"}</span>
              </a>{" "}
              {isCurrent && <span class="tag ok">current</span>} {gitSha === shown && <span class="tag">shown</span>}
            </th>
            <td>
              <span class="clip" title={refs.join(", ")}>
                {refs.join(", ") || "–"}
              </span>
            </td>
            <TimeCell at={indexedAt} />
            <td class="minor">
              <a href={tenantPath(c, `runs/${runId}`)}>
                Run<span class="sr"> of {gitSha.slice(0, 8)}</span>
              </a>
            </td>
          </tr>
        ))}
      </Table>
    </details>
  );
}

/** Address of the page about a name, which is appended. */
function namePage(c: DashboardContext, { workspaceId, ref }: Asked, name: string): string {
  const query = new URLSearchParams({ repo: workspaceId, ...(ref !== undefined && { ref }) });
  return `${tenantPath(c, "names")}?${query.toString()}&name=${encodeURIComponent(name)}`;
}
