/** Who and what used the credits: by person, key and repository. */
import type { Child } from "hono/jsx";
import type { DayUsage, UsageReport } from "../../../service/dashboard/usage.ts";
import { type DashboardContext, tenantPath } from "../app/context.ts";
import { formatCount, spanText } from "./format.ts";
import { Empty, Panel } from "./parts.tsx";
import { Table } from "./table.tsx";

/** Id under which days hold the tokens of hosted indexing. */
const INDEXING = "index";
/** Rows of a table; further ones are summed up. */
const MAX_ROWS = 30;

interface Sum {
  credits: number;
  calls: number;
  tokens: number;
}

/** Tables of the last 30 days by person, key and repository. */
export function SharePanels({
  c,
  days,
  keys,
  repositories,
}: { c: DashboardContext } & Pick<UsageReport, "days" | "keys" | "repositories">) {
  const byKey = sumBy(days, ({ credentialId }) => credentialId);
  const byPerson = sumBy(days, ({ credentialId }) =>
    credentialId === INDEXING ? "hosted indexing" : (keys.get(credentialId)?.owner ?? "the team's keys"),
  );
  const nameOfKey = (id: string): Child => {
    const key = keys.get(id);
    if (!key) return id === INDEXING ? "hosted indexing" : `…${id.slice(-8)}`;
    return (
      <>
        <span class="clip" title={key.name}>
          {key.name}
        </span>
        {key.owner !== null && <span class="soft small"> of {key.owner}</span>}
      </>
    );
  };
  return (
    <>
      <SharePanel
        title="By person"
        text="The last 30 days: personal keys and agents count for their owner. Searches in the dashboard cost nothing."
        heading="Person"
        rows={byPerson}
        nameOf={(name) => (
          <span class="clip" title={name}>
            {name}
          </span>
        )}
      />
      <SharePanel title="By key" text="The last 30 days." heading="Key" rows={byKey} nameOf={nameOfKey} />
      <Panel
        title="By repository"
        text="What hosted indexing has done in the last 30 days. It costs no credits; searches are counted for the key that asks."
      >
        {repositories.length === 0 ? (
          <Empty title="No run in these days" />
        ) : (
          <Table
            label="Usage by repository"
            fits
            headings={[
              "Repository",
              { num: "Runs" },
              { num: "Failed" },
              { num: "Chunks embedded", minor: true },
              { num: "Time" },
            ]}
          >
            {repositories.map(({ workspaceId, repo, runs, failed, chunks, seconds }) => (
              <tr>
                <th scope="row">
                  <a
                    class="clip"
                    title={repo ?? workspaceId}
                    href={`${tenantPath(c, "runs")}?repository=${workspaceId}`}
                  >
                    {repo ?? workspaceId}
                  </a>
                </th>
                <td class="num">{formatCount(runs)}</td>
                <td class="num">{failed === 0 ? "–" : formatCount(failed)}</td>
                <td class="num minor">{formatCount(chunks)}</td>
                <td class="num">{spanText(seconds * 1_000)}</td>
              </tr>
            ))}
          </Table>
        )}
      </Panel>
    </>
  );
}

/** Sums of days by a name, most credits first. */
function sumBy(days: DayUsage[], keyOf: (day: DayUsage) => string): [name: string, Sum][] {
  const sums = new Map<string, Sum>();
  for (const day of days) {
    const name = keyOf(day);
    const { credits, calls, tokens } = sums.get(name) ?? { credits: 0, calls: 0, tokens: 0 };
    sums.set(name, { credits: credits + day.credits, calls: calls + day.calls, tokens: tokens + day.tokens });
  }
  return [...sums].toSorted(([, a], [, b]) => b.credits - a.credits || b.calls - a.calls || b.tokens - a.tokens);
}

function SharePanel({
  title,
  text,
  heading,
  rows,
  nameOf,
}: {
  title: string;
  text: string;
  heading: string;
  rows: [name: string, Sum][];
  nameOf: (name: string) => Child;
}) {
  const most = Math.max(1, ...rows.map(([, { credits }]) => credits));
  const hidden = rows.length - MAX_ROWS;
  return (
    <Panel title={title} text={text}>
      {rows.length === 0 ? (
        <Empty title="Nothing used yet">
          <p>Requests appear here some seconds after they are answered.</p>
        </Empty>
      ) : (
        <Table
          label={`Usage ${title.toLowerCase()}`}
          fits
          headings={[heading, { num: "Credits" }, { minor: "Share" }, { num: "Requests" }, { num: "Tokens" }]}
        >
          {rows.slice(0, MAX_ROWS).map(([name, { credits, calls, tokens }]) => (
            <tr>
              <th scope="row">{nameOf(name)}</th>
              <td class="num">{formatCount(credits)}</td>
              <td class="wide minor">
                <progress max={most} value={credits} aria-label={`${formatCount(credits)} credits`} />
              </td>
              <td class="num">{formatCount(calls)}</td>
              <td class="num">{formatCount(tokens)}</td>
            </tr>
          ))}
        </Table>
      )}
      {hidden > 0 && <p class="body soft">{formatCount(hidden)} with less are not listed.</p>}
    </Panel>
  );
}
