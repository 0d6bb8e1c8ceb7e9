import type { DeliveryRow, RepositoryRow } from "../../dashboard/repositories.ts";
import { HOOK_PROVIDERS } from "../../db/people-schema.ts";
import { Confirm, Empty, Panel, Time } from "./parts.tsx";
import { Commit } from "./state.tsx";

export const PROVIDER_NAMES = { github: "GitHub", gitlab: "GitLab", gitea: "Gitea" } as const;

/** The hooks of a repository, and the form that adds one. */
export function HooksPanel({
  repository,
  base,
  manages,
}: {
  repository: RepositoryRow;
  base: string;
  manages: boolean;
}) {
  const { hooks } = repository;
  const free = HOOK_PROVIDERS.filter((provider) => !hooks.some((hook) => hook.provider === provider));
  return (
    <Panel title="Push hooks" text="The host calls a hook at every push, and the pushed branch is indexed.">
      {hooks.length > 0 && (
        <div class="scroll" tabindex={0} role="region" aria-label="Push hooks">
          <table>
            <thead>
              <tr>
                <th scope="col">Host</th>
                <th scope="col">Hook</th>
                <th scope="col">Made</th>
                <th scope="col">
                  <span class="sr">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {hooks.map((hook) => (
                <tr>
                  <th scope="row">{PROVIDER_NAMES[hook.provider]}</th>
                  <td>
                    <code>
                      /hooks/{hook.provider}/{hook.id}
                    </code>
                  </td>
                  <td>
                    <Time at={hook.createdAt} />
                  </td>
                  <td class="actions">
                    {manages && (
                      <Confirm
                        label="Delete …"
                        title={`Delete the ${PROVIDER_NAMES[hook.provider]} hook?`}
                        question="Pushes that the host still reports to this address will be refused."
                        action={`${base}/hooks/${hook.id}/delete`}
                        button="Delete the hook"
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {manages && free.length > 0 && (
        <div class="body">
          <form method="post" action={`${base}/hooks`}>
            <div class="row">
              <div class="field fit">
                <label for="field-provider">Host</label>
                <select id="field-provider" name="provider">
                  {free.map((provider) => (
                    <option value={provider}>{PROVIDER_NAMES[provider]}</option>
                  ))}
                </select>
              </div>
              <button>Make a hook</button>
            </div>
          </form>
        </div>
      )}
    </Panel>
  );
}

const OUTCOME_TONES: Record<string, string> = { started: "tag ok", deleted: "tag ok", failed: "tag bad" };

/** The latest deliveries of a repository's hooks. */
export function DeliveriesPanel({ deliveries, repo }: { deliveries: DeliveryRow[]; repo: string | null }) {
  return (
    <div id="deliveries" data-refresh="5">
      <Panel title="Deliveries" text="Events reported by git hosts, and their outcomes.">
        {deliveries.length === 0 ? (
          <Empty title="Nothing yet">
            <p>Push a commit, or use the host's own button to test the hook.</p>
          </Empty>
        ) : (
          <div class="scroll" tabindex={0} role="region" aria-label="Deliveries">
            <table>
              <thead>
                <tr>
                  <th scope="col">Event</th>
                  <th scope="col">Branch</th>
                  <th scope="col">Commit</th>
                  <th scope="col">Outcome</th>
                  <th scope="col">When</th>
                </tr>
              </thead>
              <tbody>
                {deliveries.map((delivery) => (
                  <tr>
                    <th scope="row">
                      {PROVIDER_NAMES[delivery.provider]} {delivery.event}
                    </th>
                    <td>{delivery.branch ?? "–"}</td>
                    <td>{delivery.gitSha === null ? "–" : <Commit repo={repo} sha={delivery.gitSha} />}</td>
                    <td class="wide">
                      <span class={OUTCOME_TONES[delivery.outcome] ?? "tag"}>{delivery.outcome}</span> {delivery.detail}
                    </td>
                    <td>
                      <Time at={delivery.at} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
    </div>
  );
}
