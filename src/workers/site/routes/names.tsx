/** What is known of a name: where it is defined, what calls it and what it calls, and the lines that use it. */
import { Hono } from "hono";
import type { ReferencesResponse } from "../../../contract/search.ts";
import { findByLongestName } from "../../../service/dashboard/repositories.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { codeUrl, type Place, tryCode } from "../app/code.ts";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { formatCount } from "../views/format.ts";
import { tenantPage } from "../views/layout.tsx";
import { Empty, Field, Head, Panel } from "../views/parts.tsx";

export const namePages = new Hono<DashboardHono>();

const REFERENCES = 200;
/** Callers and callees that are listed. */
const RELATED = 50;
const MAX_NAME_CHARACTERS = 300;

export function NameForm({ c, asked, name }: { c: DashboardContext; asked: Omit<Place, "path">; name: string }) {
  return (
    <form method="get" action={tenantPath(c, "names")} class="row">
      <input type="hidden" name="repo" value={asked.workspaceId} />
      {asked.ref !== undefined && <input type="hidden" name="ref" value={asked.ref} />}
      <Field label="Look up a name" name="name" value={name} maxlength={MAX_NAME_CHARACTERS} />
      <button>Look up</button>
    </form>
  );
}

namePages.get("/names", async (c) => {
  const name = c.req.query("name")?.trim() ?? "";
  const workspaceId = c.req.query("repo") ?? "";
  const found = isUuid(workspaceId)
    ? await findByLongestName(c.get("db"), c.get("membership").tenantId, [workspaceId])
    : undefined;
  if (!found) throw new DashboardError("NOT_FOUND", "the team has no such repository");
  const ref = c.req.query("ref")?.trim();
  const asked: Place = { ...found, path: "", ref: ref === "" ? undefined : ref };
  const scope = { workspaceId, name, ...(asked.ref !== undefined && { ref: asked.ref }) };
  const related = { ...scope, limit: String(RELATED) };
  const [symbols, references, callers, callees] =
    name === ""
      ? []
      : await Promise.all([
          tryCode(c, "symbols", { ...scope, match: "exact" }),
          tryCode(c, "references", { ...scope, limit: String(REFERENCES) }),
          tryCode(c, "references", { ...related, relation: "callers" }),
          tryCode(c, "references", { ...related, relation: "callees" }),
        ]);
  const defined = symbols === undefined || symbols instanceof DashboardError ? [] : symbols.symbols;
  return tenantPage(
    c,
    "search",
    { title: `${name} · ${found.repo ?? "Code"}` },
    <>
      <Head
        title={name === "" ? "Look up a name" : name}
        crumb={<a href={codeUrl(c, asked)}>{found.repo ?? workspaceId}</a>}
        text="Where it is defined, what calls it and what it calls, and the lines that use it. Uses are found by name; callers and callees say how sure they are."
      >
        <NameForm c={c} asked={asked} name={name} />
      </Head>
      <Panel title={`Definitions (${formatCount(defined.length)})`}>
        {defined.length === 0 ? (
          <Empty title="No definition in this repository">
            {symbols instanceof DashboardError && <p>{symbols.message}</p>}
          </Empty>
        ) : (
          <ul class="tree">
            {defined.map(({ qualifiedName, kind, path, startLine, signature }) => (
              <li>
                <a href={codeUrl(c, { ...asked, path, startLine })} data-result>
                  {path}:{startLine}
                </a>{" "}
                <span class="tag">{kind}</span> <code>{signature ?? qualifiedName}</code>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <Related c={c} asked={asked} title="Callers" answer={callers} empty="No call of it is known" />
      <Related c={c} asked={asked} title="Callees" answer={callees} empty="No call in its definition is known" />
      <Related c={c} asked={asked} title="Uses" answer={references} empty="No line uses it" />
    </>,
  );
});

/** Lines with their number. An error, such as that of callees in a language without rules, is shown as none. */
function Related({
  c,
  asked,
  title,
  answer,
  empty,
}: {
  c: DashboardContext;
  asked: Place;
  title: string;
  answer: ReferencesResponse | DashboardError | undefined;
  empty: string;
}) {
  const found = answer instanceof DashboardError ? undefined : answer;
  const cut = found?.truncated === true ? ", the first are shown" : "";
  return (
    <Panel title={`${title} (${formatCount(found?.total ?? 0)}${cut})`}>
      {found === undefined || found.references.length === 0 ? (
        <Empty title={empty} />
      ) : (
        <Lines c={c} asked={asked} references={found.references} />
      )}
    </Panel>
  );
}

function Lines({
  c,
  asked,
  references,
}: {
  c: DashboardContext;
  asked: Place;
  references: ReferencesResponse["references"];
}) {
  return (
    <ul class="tree">
      {references.map(({ path, line, text, enclosing, certainty, relation, target }) => (
        <li>
          <a href={codeUrl(c, { ...asked, path, startLine: line })} data-result>
            {path}:{line}
          </a>{" "}
          {certainty !== undefined && <span class="tag">{certainty === "name" ? "by name" : certainty}</span>}{" "}
          {enclosing !== null && relation !== "callees" && <span class="soft small">in {enclosing}</span>}
          {target !== undefined && relation === "callees" && (
            <a class="small" href={codeUrl(c, { ...asked, path: target.path, startLine: target.line })}>
              {target.qualifiedName}
            </a>
          )}
          <code class="use">{text.trim()}</code>
        </li>
      ))}
    </ul>
  );
}
