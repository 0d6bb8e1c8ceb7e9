/** What a name means: where it is defined, what calls it and what it calls, and the lines that use it. */
import { Hono } from "hono";
import type { DefinitionResponse, FileResponse, SymbolsResponse } from "../../../contract/search.ts";
import type { ReferencesResponse } from "../../../contract/relations.ts";
import { findByLongestName } from "../../../service/dashboard/repositories.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { codeUrl, type Place, tryCode } from "../app/code.ts";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { Code, withheldLines } from "../views/code.tsx";
import { formatCount } from "../views/format.ts";
import { tenantPage } from "../views/layout.tsx";
import { Empty, Field, Head, Panel } from "../views/parts.tsx";

export const namePages = new Hono<DashboardHono>();

const REFERENCES = 200;
/** Callers and callees that are listed. */
const RELATED = 50;
const MAX_NAME_CHARACTERS = 300;
/** Lines of a definition that are shown. */
const SHOWN_LINES = 15;

/** Found by the position of a use, or by the name alone, without a certainty. */
type Definition = SymbolsResponse["symbols"][number] &
  Partial<Pick<DefinitionResponse["definitions"][number], "certainty">>;

/** A name as the page's address says it; `path` and `line` are of the use that was clicked, if one was. */
interface Asked extends Place {
  name: string;
  line: number | undefined;
  column: number | undefined;
}

/** Address of the page about names of a file, to which `line`, `column` and `name` are appended. */
export function namePage(c: DashboardContext, { workspaceId, ref, path }: Place): string {
  const query = new URLSearchParams({ repo: workspaceId, ...(ref !== undefined && { ref }), path });
  return `${tenantPath(c, "names")}?${query.toString()}`;
}

export function NameForm({ c, asked, name }: { c: DashboardContext; asked: Omit<Place, "path">; name: string }) {
  return (
    <form method="get" action={tenantPath(c, "names")} class="row">
      <input type="hidden" name="repo" value={asked.workspaceId} />
      {asked.ref !== undefined && <input type="hidden" name="ref" value={asked.ref} />}
      <Field label="Look up a name" name="name" value={name} maxlength={MAX_NAME_CHARACTERS} />
      <button type="submit">Look up</button>
    </form>
  );
}

namePages.get("/names", async (c) => {
  const asked = await askedOf(c);
  const { workspaceId, repo, name, path, line } = asked;
  const scope = scopeOf(asked);
  const related = { ...scope, name, limit: String(RELATED) };
  const [defined, references] =
    name === ""
      ? []
      : await Promise.all([
          definitionsOf(c, asked),
          tryCode(c, "references", { ...scope, name, limit: String(REFERENCES) }),
        ]);
  const definitions = defined instanceof DashboardError || defined === undefined ? [] : defined;
  // Of a use, the definition that it means; of a bare name, all that have it.
  const [meant] = path === "" ? [] : definitions;
  const isFollowed = name !== "" && (path === "" || meant !== undefined);
  const target = meant !== undefined && { path: meant.path, line: String(meant.startLine) };
  const [callers, callees, excerpt] = await Promise.all([
    isFollowed ? tryCode(c, "references", { ...related, ...target, relation: "callers" }) : undefined,
    isFollowed ? tryCode(c, "references", { ...related, ...target, relation: "callees" }) : undefined,
    definitions[0] === undefined ? undefined : excerptOf(c, asked, definitions[0]),
  ]);
  return tenantPage(
    c,
    "search",
    { title: `${name} · ${repo ?? "Code"}` },
    <>
      <Head
        title={name === "" ? "Look up a name" : name}
        crumb={
          <>
            <a href={codeUrl(c, { ...asked, path: "" })}>{repo ?? workspaceId}</a>
            {path !== "" && (
              <>
                {" / "}
                <a href={codeUrl(c, { ...asked, startLine: line })}>{line === undefined ? path : `${path}:${line}`}</a>
              </>
            )}
          </>
        }
        text="Where it is defined, what calls it and what it calls, and the lines that use it. Uses are found by name; the others say how sure they are."
      >
        <NameForm c={c} asked={asked} name={name} />
      </Head>
      <Panel title={`Definitions (${formatCount(definitions.length)})`}>
        {definitions.length === 0 ? (
          <Empty title="No definition in this repository">
            {defined instanceof DashboardError ? (
              <p>{defined.message}</p>
            ) : (
              path !== "" && <p>It is of another package, or a parameter or variable within a function.</p>
            )}
          </Empty>
        ) : (
          <ul class="tree">
            {definitions.map((definition) => (
              <DefinitionLine c={c} asked={asked} definition={definition} isOne={definitions.length === 1} />
            ))}
          </ul>
        )}
        {excerpt !== undefined && (
          <Code
            text={excerpt.text}
            language={excerpt.language}
            firstLine={excerpt.startLine}
            label={`The definition in ${excerpt.path}`}
            page={codeUrl(c, { ...asked, path: excerpt.path })}
            instead={withheldLines(excerpt.withheld)}
            namePage={namePage(c, { ...asked, path: excerpt.path })}
          />
        )}
      </Panel>
      {isFollowed && (
        <>
          <Related c={c} asked={asked} title="Callers" answer={callers} empty="No call of it is known" />
          <Related c={c} asked={asked} title="Callees" answer={callees} empty="No call in its definition is known" />
        </>
      )}
      <Related c={c} asked={asked} title="Uses" answer={references} empty="No line uses it" />
    </>,
  );
});

/** Throws `NOT_FOUND` if the address names no repository of the team. */
async function askedOf(c: DashboardContext): Promise<Asked> {
  const text = (name: string): string => c.req.query(name)?.trim() ?? "";
  const number = (name: string): number | undefined =>
    /^[1-9]\d{0,8}$/.test(text(name)) ? Number(text(name)) : undefined;
  const found = isUuid(text("repo"))
    ? await findByLongestName(c.get("db"), c.get("membership").tenantId, [text("repo")])
    : undefined;
  if (!found) throw new DashboardError("NOT_FOUND", "the team has no such repository");
  const line = number("line");
  return {
    ...found,
    ref: text("ref") === "" ? undefined : text("ref"),
    name: text("name"),
    // A path alone says nothing about a name.
    path: line === undefined ? "" : (c.req.query("path") ?? ""),
    line,
    column: number("column"),
  };
}

const scopeOf = ({ workspaceId, ref }: Place) => ({ workspaceId, ...(ref !== undefined && { ref }) });

/** What the clicked use means; without one, or if the name no longer stands there, all definitions of the name. */
async function definitionsOf(c: DashboardContext, asked: Asked): Promise<Definition[] | DashboardError> {
  const { name, path, line, column } = asked;
  if (path !== "" && line !== undefined) {
    const at = { path, line: String(line), ...(column !== undefined && { column: String(column) }) };
    const answer = await tryCode(c, "definition", { ...scopeOf(asked), ...at });
    if (!(answer instanceof DashboardError) && answer.names.includes(name))
      return column === undefined ? answer.definitions.filter((each) => each.name === name) : answer.definitions;
  }
  const answer = await tryCode(c, "symbols", { ...scopeOf(asked), name, match: "exact" });
  return answer instanceof DashboardError ? answer : answer.symbols;
}

/** The first lines of a definition; undefined if they cannot be read. */
async function excerptOf(
  c: DashboardContext,
  asked: Asked,
  { path, startLine, endLine }: Definition,
): Promise<FileResponse | undefined> {
  const end = Math.min(endLine, startLine + SHOWN_LINES - 1);
  const lines = { start: String(startLine), end: String(end) };
  const answer = await tryCode(c, "file", { ...scopeOf(asked), path, ...lines });
  return answer instanceof DashboardError ? undefined : answer;
}

function DefinitionLine({
  c,
  asked,
  definition: { name, qualifiedName, kind, path, startLine, signature, certainty },
  isOne,
}: {
  c: DashboardContext;
  asked: Asked;
  definition: Definition;
  isOne: boolean;
}) {
  const own = `${namePage(c, { ...asked, path })}&line=${startLine}&name=${encodeURIComponent(name)}`;
  return (
    <li>
      <a href={codeUrl(c, { ...asked, path, startLine })} data-result>
        {path}:{startLine}
      </a>{" "}
      <Certainty certainty={certainty} /> <span class="tag">{kind}</span> <code>{signature ?? qualifiedName}</code>{" "}
      {!isOne && (
        <a class="small" href={own}>
          this one<span class="sr"> in {path}</span>
        </a>
      )}
    </li>
  );
}

function Certainty({ certainty }: { certainty: Definition["certainty"] }) {
  if (certainty === undefined) return <></>;
  return <span class={certainty === "certain" ? "tag ok" : "tag"}>{certainty === "name" ? "by name" : certainty}</span>;
}

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
          <Certainty certainty={certainty} />{" "}
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
