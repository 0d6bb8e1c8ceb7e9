/**
 * What hosts send to hooks, in the shapes of their documentation (docs.github.com "push", docs.gitlab.com "Push events",
 * docs.gitea.com "Webhooks"), with made-up values.
 */
import { createHmac } from "node:crypto";
import type { HookProvider } from "../../src/service/db/people-schema.ts";

export interface Push {
  ref: string;
  after: string;
  before?: string;
  defaultBranch?: string;
  /** Id of the delivery. */
  id?: string;
}

export interface SentHook {
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

const person = { name: "Ann", email: "ann@example.com", username: "ann" };
const commit = (id: string) => ({
  id,
  message: "Change something",
  timestamp: "2026-11-21T12:00:00Z",
  url: `https://git.example.com/acme/api/commit/${id}`,
  author: person,
  added: [],
  modified: ["src/app.ts"],
  removed: [],
});
const isGone = (after: string) => /^0+$/.test(after);
/** When the repository changed, by id of the delivery: a repeated delivery has the same body, another push never has. */
const changes = new Map<string, number>();
function changedAt({ id = crypto.randomUUID() }: Push): number {
  const at = changes.get(id) ?? 1_795_000_000 + changes.size;
  changes.set(id, at);
  return at;
}
const before = "1481a2de7b2a7d02428ad93446ab166be7793fbb";

export const PAYLOADS: Record<HookProvider, (push: Push) => SentHook> = {
  github: (push) => ({
    headers: {
      "Content-Type": "application/json",
      "User-Agent": "GitHub-Hookshot/044aadd",
      "X-GitHub-Event": "push",
      "X-GitHub-Hook-ID": "292430182",
      "X-GitHub-Delivery": push.id ?? crypto.randomUUID(),
    },
    body: {
      ref: push.ref,
      before: push.before ?? before,
      after: push.after,
      repository: {
        id: 186853002,
        name: "api",
        full_name: "acme/api",
        private: true,
        clone_url: "https://github.com/acme/api.git",
        pushed_at: changedAt(push),
        default_branch: push.defaultBranch ?? "main",
      },
      pusher: { name: "ann", email: "ann@example.com" },
      sender: { login: "ann", id: 21031067, type: "User" },
      created: false,
      deleted: isGone(push.after),
      forced: false,
      base_ref: null,
      commits: isGone(push.after) ? [] : [commit(push.after)],
      head_commit: isGone(push.after) ? null : commit(push.after),
    },
  }),
  gitlab: (push) => ({
    headers: {
      "Content-Type": "application/json",
      "X-Gitlab-Event": "Push Hook",
      "X-Gitlab-Instance": "https://gitlab.com",
      "X-Gitlab-Webhook-UUID": "e1f2c9a0-0000-4000-8000-000000000000",
      "Idempotency-Key": push.id ?? crypto.randomUUID(),
    },
    body: {
      object_kind: push.ref.startsWith("refs/tags/") ? "tag_push" : "push",
      event_name: "push",
      before: push.before ?? before,
      after: push.after,
      ref: push.ref,
      checkout_sha: isGone(push.after) ? null : push.after,
      user_id: 4,
      user_name: "Ann",
      project_id: 15,
      project: {
        id: 15,
        name: "api",
        git_http_url: "https://gitlab.com/acme/api.git",
        path_with_namespace: "acme/api",
        default_branch: push.defaultBranch ?? "main",
      },
      commits: isGone(push.after) ? [] : [commit(push.after)],
      total_commits_count: isGone(push.after) ? 0 : 1,
    },
  }),
  gitea: (push) => {
    const id = push.id ?? crypto.randomUUID();
    return {
      headers: {
        "Content-Type": "application/json",
        "X-GitHub-Delivery": id,
        "X-GitHub-Event": "push",
        "X-Gogs-Delivery": id,
        "X-Gogs-Event": "push",
        "X-Gitea-Delivery": id,
        "X-Gitea-Event": "push",
      },
      body: {
        ref: push.ref,
        before: push.before ?? before,
        after: push.after,
        compare_url: "https://git.example.com/acme/api/compare/x...y",
        commits: isGone(push.after) ? [] : [commit(push.after)],
        repository: {
          id: 140,
          name: "api",
          full_name: "acme/api",
          clone_url: "https://git.example.com/acme/api.git",
          updated_at: new Date(changedAt(push) * 1_000).toISOString(),
          default_branch: push.defaultBranch ?? "main",
        },
        pusher: { id: 1, login: "ann", email: "ann@example.com" },
        sender: { id: 1, login: "ann", email: "ann@example.com" },
      },
    };
  },
};

/** The headers by which a host shows that it knows the secret. */
export function signHook(provider: HookProvider, secret: string, body: string): Record<string, string> {
  const hmac = createHmac("sha256", secret).update(body).digest("hex");
  if (provider === "github") return { "X-Hub-Signature-256": `sha256=${hmac}` };
  return provider === "gitea"
    ? { "X-Gitea-Signature": hmac, "X-Hub-Signature-256": `sha256=${hmac}` }
    : { "X-Gitlab-Token": secret };
}
