/** GitHub Apps, from the manifest to the run of a push, against a fake that checks what GitHub checks. */
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowsOf } from "../../src/service/db/rows.ts";
import { type FakeApp, FakeGithub } from "../support/fake-github.ts";
import { memberOf, newTeam, type Profile, type Team } from "./support/dashboard.ts";
import { database, service } from "./support/service.ts";

const NAMES = ["api", "web", "docs", ...Array.from({ length: 60 }, (_, n) => `lib-${n}`)];

let github: FakeGithub;
beforeAll(async () => {
  github = await FakeGithub.start(NAMES.slice(0, 3), { "src/app.ts": "export const one = 1;\n" });
  // Listed, and never read.
  for (const [n, name] of NAMES.slice(3).entries())
    github.repositories.push({ id: 2_000 + n, name: `acme/${name}`, isPrivate: n % 2 === 0 });
});
afterAll(() => github[Symbol.asyncDispose]());

/** The form of a manifest: where it is sent, and the manifest. */
async function planned(owner: Profile, team: Team, query = `host=${github.origin}&organization=acme`) {
  const page = await owner.page(`${team.pages}/github/new?${query}`);
  const action = /action="(http[^"]+)"/.exec(page)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const manifest = /name="manifest" value="([^"]+)"/.exec(page)?.[1]?.replaceAll("&quot;", '"') ?? "";
  return { action, manifest };
}

async function makeApp(team: Team): Promise<{ app: FakeApp; id: string }> {
  const { action, manifest } = await planned(team.owner, team);
  const back = github.confirmManifest(action, manifest);
  const answer = await team.owner.send(back.pathname + back.search);
  expect([answer.status, answer.headers.get("Location")]).toEqual([303, `${team.pages}/github`]);
  const app = github.apps.at(-1)!;
  const [row] = await rowsOf<{ id: string }>(
    database(),
    sql`select id from github_apps where tenant_id = ${team.tenantId} and app_id = ${app.id}`,
  );
  return { app, id: row?.id ?? "" };
}

const sourceOf = async (workspaceId: string) =>
  (
    await rowsOf<{ accessLost: string | null; appId: string | null; installationId: string }>(
      database(),
      sql`select access_lost as "accessLost", app_id as "appId", installation_id as "installationId" from repository_sources where workspace_id = ${workspaceId}`,
    )
  )[0];

const runsOf = (workspaceId: string) =>
  rowsOf<{ state: string; sha: string | null; error: string | null }>(
    database(),
    sql`select state, result ->> 'gitSha' as sha, error ->> 'error' as error from runs where workspace_id = ${workspaceId} order by created_at desc`,
  );

interface Connected {
  team: Team;
  app: FakeApp;
  id: string;
  installation: number;
  workspaces: string[];
}

/** A team whose App reads two repositories, which are indexed. */
async function connected(): Promise<Connected> {
  const team = await newTeam();
  const { app, id } = await makeApp(team);
  const installation = await github.install(app);
  const ids = github.repositories.slice(0, 2).map((one) => String(one.id));
  const made = await team.owner.post(`${team.base}/github/${id}/${installation}`, { ids });
  expect(made).toMatchObject({ status: 201, failed: [] });
  const workspaces = (made["repositories"] as { workspaceId: string }[]).map(({ workspaceId }) => workspaceId);
  for (const one of workspaces) await expect.poll(() => runsOf(one)).toMatchObject([{ state: "succeeded" }]);
  return { team, app, id, installation, workspaces };
}

describe("a GitHub App", () => {
  it("is made with a manifest, lists its repositories, connects several, and indexes pushes", async () => {
    const { team, app, id, installation, workspaces } = await connected();
    expect(app).toMatchObject({
      owner: "acme",
      manifest: {
        public: false,
        default_permissions: { contents: "read", metadata: "read" },
        default_events: ["push"],
        hook_attributes: { url: `${service().siteUrl}/api/v1/hooks/github-app/${id}` },
      },
    });
    const list = await team.owner.page(`${team.pages}/github`);
    expect(list).toContain(app.name);
    const picker = `${team.pages}/github/${id}/${installation}`;
    const first = await team.owner.page(picker);
    expect(first).toContain(`href="${team.pages}/repositories/${workspaces[0]}"`);
    expect(first.match(/name="ids"/g)).toHaveLength(48);
    expect((await team.owner.page(`${picker}?page=2`)).match(/name="ids"/g)).toHaveLength(13);
    expect((await team.owner.page(`${picker}?q=LIB-5`)).match(/name="ids"/g)).toHaveLength(11);

    github.work.files({ "src/app.ts": "export const pushed = 2;\n" });
    const sha = github.work.commit();
    const answer = await github.push(app, github.repositories[0]!);
    expect([answer.status, await answer.json()]).toMatchObject([200, { outcome: "started" }]);
    await expect.poll(() => runsOf(workspaces[0] ?? "")).toMatchObject([{ state: "succeeded", sha }, {}]);
    expect(await runsOf(workspaces[1] ?? "")).toHaveLength(1);
    const page = await team.owner.page(`${team.pages}/repositories/${workspaces[0]}`);
    for (const text of [`the GitHub App ${app.name}`, "webhook of the GitHub App", "started"])
      expect(page).toContain(text);
    const audit = await team.owner.page(`${team.pages}/audit`);
    expect(audit).toContain("made the GitHub App");
    const rows = JSON.stringify(await rowsOf(database(), sql`select * from github_apps where id = ${id}`));
    for (const secret of github.secrets)
      for (const text of [list, first, page, audit, rows]) expect(text).not.toContain(secret);
  });

  it("belongs to the session that began it, is taken once, and to no member", async () => {
    const team = await newTeam();
    const other = await newTeam();
    const { action, manifest } = await planned(team.owner, team);
    const back = github.confirmManifest(action, manifest);
    const admin = await memberOf(team.tenantId, "admin");
    const refused = async (who: Profile, path = back.pathname) => (await who.send(path + back.search)).status;
    expect(await refused(admin)).toBe(400);
    expect(await refused(other.owner, `${other.pages}/github/created`)).toBe(400);
    expect(await refused(other.owner)).toBe(404);
    const member = await memberOf(team.tenantId, "member");
    for (const page of ["github", "github/new", "github/created"])
      expect((await member.send(`${team.pages}/${page}`)).status).toBe(403);
    expect(await refused(team.owner)).toBe(303);
    expect(await refused(team.owner)).toBe(409);
    const [row] = await rowsOf<{ id: string }>(
      database(),
      sql`select id from github_apps where tenant_id = ${team.tenantId}`,
    );
    expect((await other.owner.send(`${other.pages}/github/${row?.id}/1`)).status).toBe(404);
    expect(await other.owner.post(`${other.base}/github/${row?.id}/remove`)).toMatchObject({ status: 404 });
    for (const query of ["host=10.0.0.1", "host=https://metadata.google.internal", "organization=a/b"])
      expect([query, (await team.owner.send(`${team.pages}/github/new?${query}`)).status]).toEqual([query, 400]);
    // A repository that the installation cannot read is not connected, whatever the form says.
    const installation = await github.install(github.apps.at(-1)!, github.repositories.slice(0, 1));
    const made = await team.owner.post(`${team.base}/github/${row?.id}/${installation}`, { ids: ["1000", "1001"] });
    expect(made).toMatchObject({ status: 400, details: { issues: [{ path: "ids" }] } });
  });

  it("takes only signed deliveries, each once", async () => {
    const { app, workspaces, team } = await connected();
    const [repository] = github.repositories;
    const push = { ref: "refs/heads/main", after: github.work.git("rev-parse", "main") };
    const payload = { ...push, repository: { id: repository!.id, pushed_at: 1 }, installation: { id: 1 } };
    const send = async (headers = {}, body: object = payload, event = "push") => {
      const answer = await github.deliver(app, event, body, headers);
      return [answer.status, ((await answer.json()) as { outcome?: string }).outcome];
    };
    for (let n = 0; n < 2; n++)
      expect(await send({ "X-Hub-Signature-256": `sha256=${"0".repeat(64)}` })).toEqual([401, undefined]);
    expect(await team.owner.page(`${team.pages}/github`)).toContain("A delivery with a wrong signature came");
    const answers = await Promise.all(Array.from({ length: 4 }, () => send()));
    expect(answers.filter(([, outcome]) => outcome === "started")).toHaveLength(1);
    expect(await runsOf(workspaces[0] ?? "")).toHaveLength(2);
    expect(await send({}, { ...payload, after: "x" })).toEqual([400, undefined]);
    expect(await send({}, { ...payload, repository: { id: 9 } })).toEqual([200, "ignored"]);
    expect(await send({}, { zen: "x" }, "ping")).toEqual([200, "ignored"]);
    const url = app.manifest.hook_attributes?.url ?? "";
    const unknown = await fetch(`${url.slice(0, -24)}${"A".repeat(24)}`, { method: "POST", body: "{}" });
    expect(unknown.status).toBe(404);
    const asHook = await fetch(url.replace("github-app", "github"), { method: "POST", body: "{}" });
    expect(asHook.status).toBe(404);
  });

  it("says when it can no longer read, keeps the index, and reads again", async () => {
    const { app, installation, workspaces, team } = await connected();
    const [one = "", two = ""] = workspaces;
    const [first] = github.repositories;
    const page = () => team.owner.page(`${team.pages}/repositories/${one}`);
    await github.select(installation, first!, "removed");
    expect(await sourceOf(one)).toMatchObject({ accessLost: "repository_removed" });
    expect(await sourceOf(two)).toMatchObject({ accessLost: null });
    expect(await page()).toContain("can no longer read it: select the repository again");
    const { runId } = await team.owner.post(`${team.base}/repositories/${one}/index`);
    await expect.poll(() => runsOf(one)).toMatchObject([{ state: "failed" }, { state: "succeeded" }]);
    expect((await runsOf(one))[0]?.error).toContain("select the repository again");
    expect(runId).toBeDefined();
    await github.select(installation, first!, "added");
    expect(await sourceOf(one)).toMatchObject({ accessLost: null });
    await github.report(installation, "suspend");
    expect([await sourceOf(one), await sourceOf(two)]).toMatchObject([
      { accessLost: "suspended" },
      { accessLost: "suspended" },
    ]);
    await github.report(installation, "unsuspend");
    expect(await sourceOf(two)).toMatchObject({ accessLost: null });
    await github.report(installation, "deleted");
    expect(await page()).toContain("its GitHub App is uninstalled");
    expect(await page()).toContain("indexed");
    const again = await github.install(app);
    expect(await sourceOf(one)).toMatchObject({ accessLost: null, installationId: String(again) });
    await team.owner.post(`${team.base}/repositories/${one}/index`);
    await expect.poll(() => runsOf(one)).toMatchObject([{ state: "succeeded" }, {}, {}]);
  });

  it("is removed without its repositories, which another way of reading can take over", async () => {
    const { id, workspaces, team } = await connected();
    const [one = "", two = ""] = workspaces;
    expect(await team.owner.post(`${team.base}/github/${id}/remove`)).toMatchObject({ status: 200 });
    // Saved as it is, without a token: read as a public one from now on, so no App is missing any more.
    const asPublic = { url: `${github.origin}/${github.repositories[1]!.name}.git`, branches: [] };
    expect(await sourceOf(two)).toMatchObject({ accessLost: "app_removed" });
    expect(await team.owner.post(`${team.base}/repositories/${two}/source`, asPublic)).toMatchObject({ status: 200 });
    expect(await sourceOf(two)).toMatchObject({ appId: null, accessLost: null });
    expect(await sourceOf(one)).toMatchObject({ appId: null, accessLost: "app_removed" });
    expect(await team.owner.page(`${team.pages}/repositories/${one}`)).toContain("was removed from the team");
    expect(await rowsOf(database(), sql`select 1 from hooks where workspace_id = ${one}`)).toEqual([]);
    const next = await makeApp(team);
    const installation = await github.install(next.app);
    const ids = [String(github.repositories[0]!.id)];
    const made = await team.owner.post(`${team.base}/github/${next.id}/${installation}`, { ids });
    expect(made).toMatchObject({ status: 201, repositories: [{ workspaceId: one }] });
    expect(await team.owner.post(`${team.base}/github/${next.id}/${installation}`, { ids })).toMatchObject({
      status: 409,
    });
    // A token of one's own takes the App's place.
    const url = `${github.origin}/${github.repositories[0]!.name}.git`;
    await team.owner.post(`${team.base}/repositories/${one}/source`, { url, branches: ["release/*"] });
    expect(await sourceOf(one)).toMatchObject({ appId: next.id });
    await team.owner.post(`${team.base}/repositories/${one}/source`, { url, token: "own-token-123456", branches: [] });
    expect(await sourceOf(one)).toMatchObject({ appId: null, accessLost: null });
  });
});

describe("a GitHub that fails", () => {
  it("is named, its answer is not repeated, and no redirect is followed", async () => {
    const { id, installation, workspaces, team } = await connected();
    const list = () => team.owner.page(`${team.pages}/github`);
    try {
      github.failing = 500;
      expect(await list()).toContain("answered with status 500");
      expect((await team.owner.send(`${team.pages}/github/${id}/${installation}`)).status).toBe(503);
      github.failing = "redirect";
      expect(await list()).toContain("answered with status 302");
    } finally {
      github.failing = undefined;
    }
    expect(await sourceOf(workspaces[0] ?? "")).toMatchObject({ accessLost: null });
  });
});
