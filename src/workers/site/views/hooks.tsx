import type { DeliveryRow, RepositoryRow } from "../../../service/dashboard/repositories.ts";
import { ONCE_FIELD } from "../app/once.ts";
import { HOOK_PROVIDERS } from "../../../service/db/people-schema.ts";
import { Confirm, Empty, Field, Form, Panel, Select } from "./parts.tsx";
import { ACTIONS, Table, TimeCell } from "./table.tsx";
import { Commit } from "./state.tsx";

export const PROVIDER_NAMES = { github: "GitHub", gitlab: "GitLab", gitea: "Gitea" } as const;

/** The hooks of a repository, and the form that adds one. */
export function HooksPanel({
  repository,
  base,
  manages,
  once,
}: {
  repository: RepositoryRow;
  base: string;
  manages: boolean;
  /** Seed of the form, so that it makes one hook however often it is sent. */
  once: string;
}) {
  const { hooks } = repository;
  const free = HOOK_PROVIDERS.filter((provider) => !hooks.some((hook) => hook.provider === provider));
  return (
    <Panel title="Push hooks" text="The host calls a hook at every push, and the pushed branch is indexed.">
      {hooks.length > 0 && (
        <Table label="Push hooks" headings={["Host", "Hook", "Made", ACTIONS]}>
          {hooks.map((hook) => (
            <tr>
              <th scope="row">{PROVIDER_NAMES[hook.provider]}</th>
              <td>
                {hook.isOfApp ? (
                  "webhook of the GitHub App"
                ) : (
                  <code>
                    /hooks/{hook.provider}/{hook.id}
                  </code>
                )}
              </td>
              <TimeCell at={hook.createdAt} />
              <td class="actions">
                {manages && !hook.isOfApp && (
                  <Confirm
                    label="Delete …"
                    subject={PROVIDER_NAMES[hook.provider]}
                    title={`Delete the ${PROVIDER_NAMES[hook.provider]} hook?`}
                    question="Pushes that the host still reports to this address will be refused."
                    action={`${base}/hooks/${hook.id}/delete`}
                    button="Delete the hook"
                  />
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {manages && free.length > 0 && (
        <div class="body">
          <Form action={`${base}/hooks`}>
            <input type="hidden" name={ONCE_FIELD} value={once} />
            <div class="row">
              <Select
                label="Host"
                name="provider"
                options={free.map((provider) => [provider, PROVIDER_NAMES[provider]])}
              />
              <Field
                label="Access token (optional)"
                name="token"
                id="hook-token"
                type="password"
                autocomplete="new-password"
                hint="Makes the hook there too. Used once and not kept; without one you enter the hook there yourself."
              />
              <button type="submit">Make a hook</button>
            </div>
          </Form>
        </div>
      )}
    </Panel>
  );
}

const OUTCOME_TONES: Record<string, string> = {
  started: "tag ok",
  deleted: "tag ok",
  failed: "tag bad",
  rejected: "tag bad",
};

/** The latest deliveries of a repository's hooks. */
export function DeliveriesPanel({
  deliveries,
  repo,
  runsPath,
}: {
  deliveries: DeliveryRow[];
  repo: string | null;
  /** Path of the team's runs, below which each has its page. */
  runsPath: string;
}) {
  return (
    <div id="deliveries" data-refresh="5">
      <Panel title="Deliveries" text="Events reported by git hosts, and their outcomes.">
        {deliveries.length === 0 ? (
          <Empty title="Nothing yet">
            <p>Push a commit, or use the host's own button to test the hook.</p>
          </Empty>
        ) : (
          <Table label="Deliveries" headings={["Event", "Branch", "Commit", "Outcome", "When"]}>
            {deliveries.map((delivery) => (
              <tr>
                <th scope="row">
                  {PROVIDER_NAMES[delivery.provider]} {delivery.event}
                </th>
                <td data-label="Branch">{delivery.branch ?? "–"}</td>
                <td data-label="Commit">
                  {delivery.gitSha === null ? "–" : <Commit repo={repo} sha={delivery.gitSha} />}
                </td>
                <td class="wide">
                  <span class={OUTCOME_TONES[delivery.outcome] ?? "tag"}>{delivery.outcome}</span> {delivery.detail}{" "}
                  {delivery.runId !== null && <a href={`${runsPath}/${delivery.runId}`}>See the run</a>}
                  {delivery.times > 1 && ` (${delivery.times} times that day)`}
                </td>
                <TimeCell at={delivery.at} />
              </tr>
            ))}
          </Table>
        )}
      </Panel>
    </div>
  );
}
