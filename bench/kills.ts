/**
 * `npm run bench -- kills [--kills 50] [--seed 1] [--repositories 6]`
 * Kills the local stack with SIGKILL at random moments while pushes are reported, mails are asked for and calls are metered. A
 * request without an answer is sent again, as git hosts and people do, until it has one. At the end each repository must be indexed at its last
 * push, each invitation that was acknowledged must have its mail, and usage must count every answered call. Exits with 1 if anything is lost.
 */
import { readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sql } from "drizzle-orm";
import { connectRepository } from "../src/service/sources/sources.ts";
import { openDb } from "../src/service/db/client.ts";
import { sessions } from "../src/service/db/people-schema.ts";
import { rowsOf } from "../src/service/db/rows.ts";
import { createHook } from "../src/service/hooks/manage.ts";
import { localSecrets } from "../src/tooling/local/stack/local-secrets.ts";
import { createTenant } from "../src/service/tenancy/index.ts";
import { addUser } from "../src/service/users/index.ts";
import { newToken } from "../src/service/users/tokens.ts";
import { freePorts, type ServiceProcess, spawnService } from "../test/e2e/support/process.ts";
import { startGitBackend } from "../test/support/git-backend.ts";
import { GitRepo } from "../test/support/git-repo.ts";
import { PAYLOADS, signHook } from "../test/support/hook-payloads.ts";
import { seededIntegers } from "../test/support/numbers.ts";
import { temporaryFolder } from "./support.ts";

/** Time between a start and the kill. */
const MIN_LIFE_MS = 200;
const MAX_LIFE_MS = 3_000;
const REQUEST_TIMEOUT_MS = 15_000;
const SETTLE_MS = 180_000;
const DAY_MS = 24 * 3_600_000;
const LIMITS = { limit: 1_000_000 };

interface Load {
  name: string;
  /** One acknowledged piece of work; throws if there was no answer. */
  once(): Promise<void>;
  everyMs: number;
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      kills: { type: "string", default: "50" },
      seed: { type: "string", default: "1" },
      repositories: { type: "string", default: "6" },
    },
  });
  const random = seededIntegers(Number(values.seed));
  const dataDir = temporaryFolder("kills");
  const budgets = Object.fromEntries(
    ["metered", "hook", "invitation", "dashboard_mutation", "index"].map((surface) => [surface, LIMITS]),
  );
  const env = {
    DATA_DIR: dataDir,
    ...(await freePorts()),
    GIT_ALLOW_LOCAL: "true",
    RATE_LIMITS: JSON.stringify(budgets),
  };
  let running: ServiceProcess = await spawnService(env);
  const { apiUrl, siteUrl } = running.service;
  const db = () => openDb(running.service.databaseUrl);
  const repos = Array.from({ length: Number(values.repositories) }, (_, i) => i);
  const root = temporaryFolder("kills-repos");
  const work = repos.map((i) => {
    const repo = new GitRepo({ root, name: `repo-${i}` }).write("a.ts", "export {};\n");
    repo.commit("first");
    return repo;
  });
  const git = await startGitBackend(root);
  try {
    const { encryptionKey } = localSecrets(dataDir);
    const tenant = await createTenant(db(), { name: "kills", monthlyCredits: 1_000_000 });
    const email = `${crypto.randomUUID()}@example.com`;
    const { userId } = await addUser(db(), { email, tenantId: tenant.tenantId, role: "owner" });
    const session = newToken();
    const expiresAt = new Date(Date.now() + DAY_MS);
    await db().insert(sessions).values({ tokenHash: session.hash, userId, userAgent: "bench", expiresAt });
    const [{ slug } = { slug: "" }] = await rowsOf<{ slug: string }>(
      db(),
      sql`select slug from tenants where id = ${tenant.tenantId}`,
    );
    const hooks: { workspaceId: string; id: string; secret: string }[] = [];
    for (const i of repos) {
      const owner = { tenantId: tenant.tenantId, actor: "bench" };
      const source = { cloneUrl: git.url(`repo-${i}`), branches: [] };
      const { workspaceId } = await connectRepository(
        { db: db(), encryptionKey, gitHosts: { allowLocal: true } },
        { ...owner, ...source },
      );
      const hook = { ...owner, workspaceId, provider: "github" };
      hooks.push({ workspaceId, ...(await createHook({ db: db(), encryptionKey }, hook)) });
    }
    const counts = { pushes: 0, mails: 0, calls: 0, unanswered: 0, kills: 0 };
    const mailed: string[] = [];
    const post = async (url: string, headers: Record<string, string>, body: string, wanted: number) => {
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
      const response = await fetch(url, { method: "POST", headers, body, signal });
      const text = await response.text();
      if (response.status !== wanted) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 200)}`);
    };
    const pushTo = (i: number): Load => {
      let pending: { after: string; id: string } | undefined;
      let n = 0;
      return {
        name: "push",
        everyMs: 700,
        once: async () => {
          if (pending === undefined) {
            const repo = work[i]!;
            repo.write(`src/file${n++}.ts`, `export const value${n} = ${n};\n`).commit(`change ${n}`);
            pending = { after: repo.head(), id: crypto.randomUUID() };
          }
          const { headers, body } = PAYLOADS.github({ ref: "refs/heads/main", ...pending });
          const text = JSON.stringify(body);
          const { secret, id: hookId } = hooks[i]!;
          const url = `${apiUrl}/hooks/github/${hookId}`;
          await post(url, { ...headers, ...signHook("github", secret, text) }, text, 200);
          pending = undefined;
          counts.pushes++;
        },
      };
    };
    let invited = newAddress();
    const loads: Load[] = [
      ...repos.map(pushTo),
      {
        name: "mail",
        everyMs: 500,
        once: async () => {
          const url = `${siteUrl}/app/api/tenants/${slug}/invitations`;
          const headers = {
            Cookie: `cc_session=${session.value}`,
            Accept: "application/json",
            Origin: siteUrl,
            "Content-Type": "application/json",
          };
          await post(url, headers, JSON.stringify({ email: invited, role: "member" }), 201);
          mailed.push(invited);
          invited = newAddress();
          counts.mails++;
        },
      },
      {
        name: "call",
        everyMs: 100,
        once: async () => {
          const headers = { Authorization: `Bearer ${tenant.apiKey}`, "Content-Type": "application/json" };
          await post(`${apiUrl}/embed`, headers, JSON.stringify({ input: ["export const one = 1;"] }), 200);
          counts.calls++;
        },
      },
    ];
    const state = { isOver: false };
    const errors = new Map<string, number>();
    const drive = async (load: Load) => {
      for (let wasAnswered = true; !state.isOver || !wasAnswered;) {
        try {
          await load.once();
          wasAnswered = true;
        } catch (error) {
          wasAnswered = false;
          counts.unanswered++;
          const text = error instanceof Error ? error.message.replaceAll(/[\da-f-]{36}/g, "…") : "unknown";
          errors.set(text, (errors.get(text) ?? 0) + 1);
        }
        await pause(load.everyMs);
      }
    };
    const driven = Promise.all(loads.map(drive));
    const startedAt = Date.now();
    for (; counts.kills < Number(values.kills); counts.kills++) {
      await pause(MIN_LIFE_MS + random(MAX_LIFE_MS - MIN_LIFE_MS));
      await running.kill();
      running = await spawnService(env);
    }
    state.isOver = true;
    await driven;
    const lost = await lostAfter(
      db,
      running,
      { hooks, work, mailed, mailDir: path.join(dataDir, "mail") },
      tenant,
      counts,
    );
    console.log(`${JSON.stringify(counts)} in ${Math.round((Date.now() - startedAt) / 1_000)} s`);
    for (const [text, times] of errors) console.log(`  ${times} × ${text}`);
    console.log(lost.length === 0 ? "nothing was lost" : `LOST: ${lost.join("; ")}`);
    if (lost.length > 0) process.exitCode = 1;
  } finally {
    await running.kill();
    await git.close();
    for (const folder of [dataDir, root]) rmSync(folder, { recursive: true, force: true });
  }
}

const newAddress = () => `${crypto.randomUUID()}@example.com`;

/** What is missing once everything has come to rest, or {@link SETTLE_MS} later. */
async function lostAfter(
  db: () => ReturnType<typeof openDb>,
  running: ServiceProcess,
  expected: { hooks: { workspaceId: string }[]; work: GitRepo[]; mailed: string[]; mailDir: string },
  tenant: { apiKey: string },
  counts: { calls: number; unanswered: number },
): Promise<string[]> {
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    const lost: string[] = [];
    for (const [i, { workspaceId }] of expected.hooks.entries()) {
      const rows = await rowsOf<{ sha: string }>(
        db(),
        sql`select r.git_sha as sha from workspaces w join revisions r on r.workspace_id = w.id and r.seq = w.current_seq where w.id = ${workspaceId}`,
      );
      if (rows[0]?.sha !== expected.work[i]!.head()) lost.push(`push: repo-${i} is not indexed at its last push`);
    }
    const files = new Set(readdirSync(expected.mailDir).map((name) => name.slice(name.indexOf("Z-") + 2)));
    const unmailed = expected.mailed.filter((address) => ![...files].some((name) => name.includes(address)));
    if (unmailed.length > 0) lost.push(`mail: ${unmailed.length} of ${expected.mailed.length}`);
    const response = await fetch(`${running.service.apiUrl}/usage`, {
      headers: { Authorization: `Bearer ${tenant.apiKey}` },
    });
    const { calls } = (await response.json()) as { calls: { embed: number } };
    if (calls.embed < counts.calls) lost.push(`call: ${calls.embed} counted of ${counts.calls} answered`);
    if (calls.embed > counts.calls + counts.unanswered) lost.push(`call: ${calls.embed} counted, too many`);
    if (lost.length === 0 || Date.now() > deadline) {
      const [open] = await rowsOf<{ n: number }>(
        db(),
        sql`select count(*)::int as n from runs where state in ('queued', 'running')`,
      );
      if (lost.length > 0) lost.push(`runs open: ${open?.n}`);
      return lost;
    }
    await pause(1_000);
  }
}
