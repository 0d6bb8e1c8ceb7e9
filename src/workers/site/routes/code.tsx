/** Files and folders of a repository as they are indexed. */
import { Hono } from "hono";
import type { FilesResponse } from "../../../contract/exact.ts";
import type { FileResponse, OutlineResponse, SearchedIndex } from "../../../contract/search.ts";
import { type FileRevision, listFileRevisions } from "../../../service/dashboard/file-history.ts";
import { findByLongestName, type KeptRevision, listKeptRevisions } from "../../../service/dashboard/repositories.ts";
import { codeUrl, hostUrl, type Place, tryCode } from "../app/code.ts";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { Code, withheldLines } from "../views/code.tsx";
import { Changes } from "../views/changes.tsx";
import { FileHistory, Revisions } from "../views/file-history.tsx";
import { formatCount } from "../views/format.ts";
import { tenantPage } from "../views/layout.tsx";
import { Empty, Field, Head, Time } from "../views/parts.tsx";
import { Commit } from "../views/state.tsx";
import { NameForm, namePage } from "./names.tsx";

export const codePages = new Hono<DashboardHono>();

/** Path segments that a repository's name may have. */
const MAX_NAME_PARTS = 20;
const LISTED = 1_000;

/** A repository of the address, with the path in it. */
interface Asked extends Place {
  revisions: KeptRevision[];
}

codePages.get("/code/*", async (c) => {
  const asked = await askedOf(c);
  const scope = { workspaceId: asked.workspaceId, ...(asked.ref !== undefined && { ref: asked.ref }) };
  const cursor = c.req.query("cursor");
  const listing = { depth: "1", limit: String(LISTED), ...(cursor !== undefined && { cursor }) };
  if (asked.path !== "") {
    const compared = c.req.query("compare")?.trim() ?? "";
    if (compared !== "") return comparePage(c, asked, compared);
    const [file, outline, history] = await Promise.all([
      tryCode(c, "file", { ...scope, path: asked.path }),
      tryCode(c, "outline", { ...scope, path: asked.path }),
      listFileRevisions(c.get("db"), asked.workspaceId, asked.path, asked.revisions),
    ]);
    if (!(file instanceof DashboardError))
      return filePage(c, asked, { file, outline: outline instanceof DashboardError ? undefined : outline, history });
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

interface ShownFile {
  file: FileResponse;
  outline: OutlineResponse | undefined;
  history: FileRevision[] | undefined;
}

function filePage(c: DashboardContext, asked: Asked, { file, outline, history }: ShownFile) {
  const { repo, path } = asked;
  const [index] = file.indexes;
  const host = hostUrl(repo, index?.gitSha ?? "", path);
  const withheld = withheldLines(file.withheld);
  return tenantPage(
    c,
    "search",
    { title: `${path} · ${repo ?? "Code"}` },
    <>
      <CodeHead c={c} asked={asked} index={index}>
        <p class="soft small">
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
        </p>
      </CodeHead>
      {history === undefined ? (
        <Revisions c={c} place={asked} revisions={asked.revisions} shown={index?.gitSha} />
      ) : (
        <FileHistory c={c} place={asked} revisions={history} shown={index?.gitSha} />
      )}
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
              namePage={namePage(c, asked)}
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
      <Revisions c={c} place={asked} revisions={asked.revisions} shown={indexes[0]?.gitSha} />
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

/** A file as it was in another revision, and as it is in the one that is asked for. */
async function comparePage(c: DashboardContext, asked: Asked, compared: string) {
  const { workspaceId, repo, path, ref } = asked;
  const [before, after] = await Promise.all([
    tryCode(c, "file", { workspaceId, path, ref: compared }),
    tryCode(c, "file", { workspaceId, path, ...(ref !== undefined && { ref }) }),
  ]);
  // A file that only one of them has was added or removed as a whole.
  if (before instanceof DashboardError && after instanceof DashboardError) throw after;
  const shown = after instanceof DashboardError ? undefined : after;
  const other = before instanceof DashboardError ? undefined : before;
  return tenantPage(
    c,
    "search",
    { title: `${path} compared · ${repo ?? "Code"}` },
    <>
      <CodeHead c={c} asked={asked} index={shown?.indexes[0]} />
      <p class="soft">
        What changed from{" "}
        <a href={codeUrl(c, { ...asked, ref: compared })}>
          <code>{other?.indexes[0]?.gitSha.slice(0, 8) ?? compared.slice(0, 8)}</code>
        </a>{" "}
        to{" "}
        <a href={codeUrl(c, asked)}>
          <code>{shown?.indexes[0]?.gitSha.slice(0, 8) ?? ref ?? "current"}</code>
        </a>
        .
      </p>
      <section class="panel file">
        <Changes
          path={path}
          before={{ text: other?.text ?? "", page: codeUrl(c, { ...asked, ref: compared }) }}
          after={{ text: shown?.text ?? "", page: codeUrl(c, asked) }}
        />
      </section>
    </>,
  );
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
              type="text"
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
          <button type="submit">Show</button>
        </form>
      </Head>
      {children}
    </>
  );
}
