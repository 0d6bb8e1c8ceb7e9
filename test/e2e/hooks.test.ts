import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HookProvider } from "../../src/service/db/people-schema.ts";
import { rowsOf } from "../../src/service/db/rows.ts";
import { PAYLOADS, type Push, signHook } from "../support/hook-payloads.ts";
import { startHostApi } from "../support/host-api.ts";
import { type PushServer, startPushServer } from "../support/push-server.ts";
import { memberOf } from "./support/dashboard.ts";
import { api, database, newTenant, service } from "./support/service.ts";

const TOKEN = "glpat-read-only-0123456789";
const SHA = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";

let host: PushServer;
beforeAll(async () => {
  host = await startPushServer({ "src/app.ts": "export const one = 1;\n" }, { requireToken: TOKEN });
});
afterAll(() => host[Symbol.asyncDispose]());

interface Hooked {
  workspaceId: string;
  owner: Awaited<ReturnType<typeof memberOf>>;
  base: string;
  hook: { id: string; secret: string; url: string };
  deliver: (push: Push, headers?: Record<string, string>) => Promise<Response>;
}

/** A connected repository with a hook, its first run done. */
async function connect(provider: HookProvider, branches: string[] = []): Promise<Hooked> {
  const { tenantId } = await newTenant();
  const owner = await memberOf(tenantId, "owner");
  const [row] = await rowsOf<{ slug: string }>(database(), sql`select slug from tenants where id = ${tenantId}`);
  const base = `/app/api/tenants/${row?.slug}/repositories`;
  const made = await owner.post(base, { url: host.url, token: TOKEN, branches });
  expect(made.status).toBe(201);
  const workspaceId = String(made["workspaceId"]);
  await expect.poll(() => runsOf(workspaceId)).toMatchObject([{ state: "succeeded", ref: null }]);
  const answer = await owner.post(`${base}/${workspaceId}/hooks`, { provider });
  expect(answer).toMatchObject({ status: 201, provider });
  const hook = { id: String(answer["id"]), secret: String(answer["secret"]), url: String(answer["url"]) };
  expect(hook.url).toBe(`${service().siteUrl}/api/v1/hooks/${provider}/${hook.id}`);
  return {
    workspaceId,
    owner,
    base: `${base}/${workspaceId}`,
    hook,
    deliver: (push, extra = {}) => {
      const { headers, body } = PAYLOADS[provider](push);
      const text = JSON.stringify(body);
      return fetch(hook.url, {
        method: "POST",
        headers: { ...headers, ...signHook(provider, hook.secret, text), ...extra },
        body: text,
      });
    },
  };
}

const runsOf = (workspaceId: string) =>
  rowsOf<{ state: string; ref: string | null; sha: string | null }>(
    database(),
    sql`select state, request ->> 'ref' as ref, result ->> 'gitSha' as sha from runs where workspace_id = ${workspaceId} order by created_at desc`,
  );

const deliveriesOf = (hookId: string) =>
  rowsOf<{ outcome: string; branch: string | null; times: number }>(
    database(),
    sql`select outcome, branch, times from hook_deliveries where hook_id = ${hookId} order by at desc`,
  );

const currentSha = async (workspaceId: string) =>
  (
    await rowsOf<{ sha: string }>(
      database(),
      sql`select r.git_sha as sha from workspaces w join revisions r on r.workspace_id = w.id and r.seq = w.current_seq where w.id = ${workspaceId}`,
    )
  )[0]?.sha;

describe.each(["github", "gitlab", "gitea"] as const)("a push that %s reports", (provider) => {
  it("is indexed by itself, with the read token that is kept", async () => {
    const { workspaceId, hook, owner, base } = await connect(provider);
    host.setHook({ provider, url: hook.url, secret: hook.secret });
    host.work.files({ "src/app.ts": `export const made = "${provider}";\n` });
    const sha = host.work.commit();
    await host.push("main");
    await expect.poll(() => currentSha(workspaceId)).toBe(sha);
    await expect.poll(() => deliveriesOf(hook.id)).toMatchObject([{ outcome: "started", branch: "main" }]);
    const page = await owner.page(base.replace("/api/tenants", ""));
    expect(page).toContain("Deliveries");
    for (const secret of [hook.secret, TOKEN]) expect(page).not.toContain(secret);
  });
});

describe("deliveries", () => {
  it("are refused without the secret, and leave no more than their number", async () => {
    const { hook, deliver, workspaceId, owner, base } = await connect("github");
    const push = { ref: "refs/heads/main", after: SHA };
    expect((await deliver(push, { "X-Hub-Signature-256": `sha256=${"0".repeat(64)}` })).status).toBe(401);
    const { headers, body } = PAYLOADS.github(push);
    const unsigned = await fetch(hook.url, { method: "POST", headers, body: JSON.stringify(body) });
    expect(unsigned.status).toBe(401);
    for (const path of [
      `/hooks/gitlab/${hook.id}`,
      `/hooks/github/${"A".repeat(24)}`,
      "/hooks/github/x",
      `/hooks/bitbucket/${hook.id}`,
    ]) {
      expect([path, (await api(path, { body: {} })).status]).toEqual([path, 404]);
    }
    expect(await deliveriesOf(hook.id)).toMatchObject([{ outcome: "rejected", branch: null, times: 2 }]);
    expect(await owner.page(base.replace("/api/tenants", ""))).toContain("(2 times that day)");
    expect(await runsOf(workspaceId)).toHaveLength(1);
  });

  it("that make no sense are 400, and other events are listed as ignored", async () => {
    const { hook, deliver } = await connect("gitea");
    expect((await deliver({ ref: "refs/heads/main", after: "not a commit" })).status).toBe(400);
    const tag = await deliver({ ref: "refs/tags/v1", after: SHA });
    expect([tag.status, await tag.json()]).toMatchObject([200, { ok: true, outcome: "ignored" }]);
    const other = await deliver({ ref: "refs/heads/feature", after: SHA });
    expect(await other.json()).toMatchObject({ outcome: "ignored" });
    expect((await deliveriesOf(hook.id)).map(({ outcome }) => outcome)).toEqual(["ignored", "ignored", "rejected"]);
  });

  it("start one run however often they are sent", async () => {
    const { deliver, workspaceId } = await connect("github");
    const push = { ref: "refs/heads/main", after: SHA, id: crypto.randomUUID() };
    const answers = await Promise.all(Array.from({ length: 5 }, () => deliver(push)));
    const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as { outcome: string }[];
    expect(bodies.filter(({ outcome }) => outcome === "started")).toHaveLength(1);
    expect(await runsOf(workspaceId)).toHaveLength(2);
  });

  it("of a burst end with the newest push indexed, and skip what waits between", async () => {
    const { deliver, workspaceId, hook } = await connect("gitlab");
    host.work.files({ "src/burst.ts": "export const last = true;\n" });
    const sha = host.work.commit();
    // The hook of another test must not be called.
    host.setHook({ provider: "gitlab", url: hook.url, secret: hook.secret });
    await host.push("main");
    for (let i = 0; i < 8; i++) await deliver({ ref: "refs/heads/main", after: sha });
    await expect
      .poll(async () =>
        (await runsOf(workspaceId)).every(({ state }) => state === "succeeded" || state === "cancelled"),
      )
      .toBe(true);
    expect(await currentSha(workspaceId)).toBe(sha);
    const [newest] = await runsOf(workspaceId);
    expect(newest).toMatchObject({ state: "succeeded", sha });
  });

  it("of other branches are indexed where the settings name them, beside what readers see; their line goes with them", async () => {
    const { deliver, workspaceId, hook } = await connect("github", ["release/*"]);
    const before = await currentSha(workspaceId);
    host.setHook({ provider: "github", url: hook.url, secret: hook.secret });
    host.work.git("checkout", "-q", "-B", "release/2", "main");
    host.work.files({ "src/release.ts": "export const release = 2;\n" });
    const sha = host.work.commit();
    await host.push("release/2");
    await expect.poll(() => runsOf(workspaceId)).toMatchObject([{ state: "succeeded", ref: "release/2", sha }, {}]);
    expect(await currentSha(workspaceId)).toBe(before);
    const refs = () =>
      rowsOf(
        database(),
        sql`select ref from revision_refs where workspace_id = ${workspaceId} and ref = 'refs/heads/release/2'`,
      );
    expect(await refs()).toHaveLength(1);
    await host.push("--delete", "release/2");
    await expect.poll(refs).toEqual([]);
    expect(await currentSha(workspaceId)).toBe(before);
    host.work.checkout("main");
    const gone = await deliver({ ref: "refs/heads/release/2", after: "0".repeat(40) });
    expect(await gone.json()).toMatchObject({ outcome: "ignored" });
  });
});

describe("secrets", () => {
  it("of the host makes the hook there, and is not kept", async () => {
    const tokens = { token: "tok-of-host-9876543210", weak: "tok-weak-9876543210" };
    await using hostApi = await startHostApi(tokens);
    const { tenantId } = await newTenant();
    const owner = await memberOf(tenantId, "owner");
    const [row] = await rowsOf<{ slug: string }>(database(), sql`select slug from tenants where id = ${tenantId}`);
    const base = `/app/api/tenants/${row?.slug}/repositories`;
    const { workspaceId } = await owner.post(base, { url: hostApi.cloneUrl, branches: [] });
    const hooks = `${base}/${String(workspaceId)}/hooks`;
    expect(await owner.post(hooks, { provider: "gitlab", token: tokens.weak })).toMatchObject({
      status: 400,
      details: { issues: [{ path: "token" }] },
    });
    const made = await owner.post(hooks, { provider: "gitlab", token: tokens.token });
    expect(made).toMatchObject({ status: 201, url: expect.stringContaining("/hooks/gitlab/") as string });
    expect(made["secret"]).toBeUndefined();
    const [hook] = hostApi.hooks.gitlab as { url: string; token: string }[];
    expect(hostApi.hooks.gitlab).toHaveLength(1);
    const { headers, body } = PAYLOADS.gitlab({ ref: "refs/heads/main", after: SHA, defaultBranch: "main" });
    const delivered = await fetch(hook!.url, {
      method: "POST",
      headers: { ...headers, "X-Gitlab-Token": hook!.token },
      body: JSON.stringify(body),
    });
    expect(delivered.status).toBe(200);
    const dump = JSON.stringify(
      await rowsOf(
        database(),
        sql`select h::text as h from hooks h union all select s::text from repository_sources s union all select a::text from audit_events a union all select r::text from runs r`,
      ),
    );
    for (const secret of Object.values(tokens)) expect(dump).not.toContain(secret);
  });

  it("of hooks and read tokens are sealed at rest, and gone with the hook", async () => {
    const { hook, owner, base, deliver } = await connect("github");
    const dump = JSON.stringify(
      await rowsOf(
        database(),
        sql`select h::text as h from hooks h union all select s::text from repository_sources s union all select a::text from audit_events a union all select r::text from runs r`,
      ),
    );
    for (const secret of [hook.secret, TOKEN]) expect(dump).not.toContain(secret);
    expect((await owner.post(`${base}/hooks`, { provider: "github" })).status).toBe(409);
    expect((await owner.post(`${base}/hooks/${hook.id}/delete`)).status).toBe(200);
    expect((await deliver({ ref: "refs/heads/main", after: SHA })).status).toBe(404);
  });
});
