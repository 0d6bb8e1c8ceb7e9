import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { openDb } from "../../src/service/db/client.ts";
import { createTenant, createWorkspace } from "../../src/service/tenancy/index.ts";
import { startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { freePorts, spawnService } from "./support/process.ts";

const FILES = 240;
/** When to kill, after the run was accepted: while pulling, while indexing, near the end. */
const MOMENTS_MS = [60, 500, 1_200];
/** Within which a run must be under way again after a restart; with the time of the run itself on top. */
const RESUME_MS = 30_000;
const RUN_MS = 20_000;

function fill(repo: GitRepo): void {
  for (let i = 0; i < FILES; i++) {
    const body = Array.from(
      { length: 150 },
      (_, line) => `  const step_${line} = input + ${i * line}; // keeps the total of ${line}`,
    );
    repo.write(
      `src/m${i % 12}/file${i}.ts`,
      `export function work${i}(input: number) {\n${body.join("\n")}\n  return input;\n}\n`,
    );
  }
  repo.commit();
}

it("a run killed anywhere goes on by itself after a restart and ends with the rows of an undisturbed one", async () => {
  using repo = new GitRepo();
  fill(repo);
  await using git = await startGitBackend(repo.root);
  const dataDir = mkdtempSync(path.join(os.tmpdir(), "code-context-kill-"));
  const env = { DATA_DIR: dataDir, ...(await freePorts()) };
  let running = await spawnService(env);
  try {
    const tenant = async () => {
      const db = openDb(running.service.databaseUrl);
      const made = await createTenant(db, { name: "kill" });
      return { ...made, ...(await createWorkspace(db, { tenantId: made.tenantId })) };
    };
    const index = (own: { workerToken: string; workspaceId: string }, prefer: Record<string, string> = {}) =>
      fetch(`${running.service.apiUrl}/index`, {
        method: "POST",
        headers: { Authorization: `Bearer ${own.workerToken}`, "Content-Type": "application/json", ...prefer },
        body: JSON.stringify({ workspaceId: own.workspaceId, source: { type: "git", url: git.url("repo") } }),
      });
    /** Everything that content decides, as one hash. */
    const digest = async (tenantId: string) => {
      const rows = await openDb(running.service.databaseUrl).execute(sql`select
          (select md5(string_agg(f.path || encode(c.sha256, 'hex') || f.from_seq || coalesce(f.to_seq, 0), ',' order by f.path)) from revision_files f
            join workspaces w on w.id = f.workspace_id join contents c on c.id = f.content_id where w.tenant_id = ${tenantId}) as files,
          (select md5(string_agg(encode(k.hash, 'hex') || k.ordinal || k.text, ',' order by k.hash, k.ordinal)) from chunks k join contents c on c.id = k.content_id where c.tenant_id = ${tenantId}) as chunks,
          (select md5(string_agg(s.qualified_name || s.ordinal || s.start_byte, ',' order by s.qualified_name, s.ordinal)) from symbols s join contents c on c.id = s.content_id where c.tenant_id = ${tenantId}) as symbols,
          (select md5(string_agg(encode(chunk_hash, 'hex') || md5(vector), ',' order by chunk_hash)) from vectors where tenant_id = ${tenantId}) as vectors,
          (select file_count || ' ' || symbol_count || ' ' || chunk_count from revisions r join workspaces w on w.id = r.workspace_id and w.current_seq = r.seq where w.tenant_id = ${tenantId}) as totals`);
      return rows.rows[0];
    };
    /** What search answers, without what differs between two workspaces. */
    const answers = async (own: { apiKey: string }) => {
      const response = await fetch(`${running.service.apiUrl}/search`, {
        method: "POST",
        headers: { Authorization: `Bearer ${own.apiKey}`, "Content-Type": "application/json" },
        body: JSON.stringify({ query: "keeps the total of step 7", limit: 20 }),
      });
      expect(response.status, await response.clone().text()).toBe(200);
      const { results } = (await response.json()) as { results: Record<string, unknown>[] };
      return results.map(({ path, startLine, endLine, score, excerpts }) => ({
        path,
        startLine,
        endLine,
        score,
        excerpts,
      }));
    };
    const undisturbed = await tenant();
    expect((await index(undisturbed)).status).toBe(200);
    const expected = await digest(undisturbed.tenantId);
    expect(expected?.["vectors"]).toBeTruthy();
    const expectedAnswers = await answers(undisturbed);
    expect(expectedAnswers.length).toBeGreaterThan(0);
    const victims: { victim: Awaited<ReturnType<typeof tenant>>; moment: number }[] = [];
    for (const moment of MOMENTS_MS) {
      const victim = await tenant();
      victims.push({ victim, moment });
      expect((await index(victim, { Prefer: "respond-async" })).status).toBe(202);
      await new Promise((resolve) => setTimeout(resolve, moment));
      // Runs of earlier victims that have gone on by then are killed once more.
      await running.kill();
      running = await spawnService(env);
    }
    for (const { victim, moment } of victims) {
      // Nobody asks the service about the run: it must go on by itself.
      const state = async () => {
        const rows = await openDb(running.service.databaseUrl).execute(
          sql`select state from runs where tenant_id = ${victim.tenantId}`,
        );
        return rows.rows[0]?.["state"];
      };
      await expect.poll(state, { timeout: RESUME_MS + RUN_MS, interval: 500 }).toBe("succeeded");
      expect(await digest(victim.tenantId), `killed after ${moment} ms`).toEqual(expected);
      expect(await answers(victim), `killed after ${moment} ms`).toEqual(expectedAnswers);
    }
  } finally {
    await running.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 240_000);
