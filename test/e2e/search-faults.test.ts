import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CodeContextClient } from "../../src/interface/client/index.ts";
import { openDb } from "../../src/service/db/client.ts";
import { createTenant, createWorkspace } from "../../src/service/tenancy/index.ts";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { type ModelServer, startModelServer } from "../support/model-server.ts";
import { KillableService } from "./support/killable-service.ts";
import { SEARCH_KINDS, type SearchKind, SearchObjects } from "./support/objects.ts";
import type { Statement, Stop } from "./support/statement-proxy.ts";

/** Each push adds a segment; the finish of the eighth merges them. */
const PUSHES = 8;
const LAST_PUSH = PUSHES - 1;
/** Within which a killed run must go on by itself; with the time of the runs on top. */
const RESUME_MS = 90_000;
/** Within which no second repair of a workspace may be asked for. */
const REBUILD_EVERY_MS = 30_000;
const DAY_MS = 86_400_000;

interface Team {
  client: CodeContextClient;
  tenantId: string;
  workspaceId: string;
}

let repo: GitRepo;
let git: GitBackend;
let models: ModelServer;
let service: KillableService;
let objects: SearchObjects;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), "search-kill-"));
  repo = new GitRepo({ root: folder });
  for (let push = 0; push < PUSHES; push++) {
    for (let file = 0; file < 4; file++) {
      const name = `${["session", "invoice", "header", "ledger"][file]}${push}`;
      const text = `/** Closes ${name} once it expires. */\nexport function close${name}(now: number) {\n  return renew${name}(now);\n}\n`;
      repo.write(`src/${name}.ts`, text);
    }
    repo.commit(`push ${push}`);
    repo.tag(`push-${push}`);
  }
  new GitRepo({ root: folder, name: "other" })
    .write("src/session.ts", "/** Closes the other session. */\nexport function closeOther() {}\n")
    .commit();
  git = await startGitBackend(folder);
  models = await startModelServer({ dimension: 64 });
  service = await KillableService.start({
    EMBED_PROVIDER: "openai",
    EMBED_BASE_URL: models.baseUrl,
    EMBED_MODEL: "model",
    EMBED_API_KEY: "key",
    RATE_LIMITS: '{"index":{"limit":10000}}',
  });
  objects = new SearchObjects(service);
});

afterAll(async () => {
  await service.close();
  await models.close();
  await git.close();
  rmSync(folder, { recursive: true, force: true });
});

const db = () => openDb(service.databaseUrl);

async function newTeam(): Promise<Team> {
  const { tenantId, apiKey, workerToken } = await createTenant(db(), { name: "kill" });
  const { workspaceId } = await createWorkspace(db(), { tenantId });
  const client = new CodeContextClient({ baseUrl: service.apiUrl, apiKey, workerToken, maxRetries: 0 });
  return { client, tenantId, workspaceId };
}

const requestOf = ({ workspaceId }: Team, push: number) => ({
  workspaceId,
  source: { type: "git" as const, url: git.url("repo"), ref: `push-${push}` },
});

/** Indexes all pushes but the last, one after another. */
async function indexEarlier(team: Team): Promise<void> {
  for (let push = 0; push < LAST_PUSH; push++) await team.client.index(requestOf(team, push));
}

/** What each route of search answers, without what differs between two workspaces. */
async function answersOf({ client, workspaceId }: Team): Promise<unknown> {
  const own = { workspaceId };
  const answers = [
    await client.search({ ...own, query: "close the session once it expires", limit: 20 }),
    await client.search({ ...own, query: "renewledger3" }),
    await client.symbols({ ...own, name: "closeinvoice", match: "prefix" }),
    await client.references({ ...own, name: "renewheader5" }),
    await client.outline({ ...own, path: "src/ledger0.ts" }),
    await client.file({ ...own, path: "src/session7.ts" }),
  ];
  return JSON.parse(
    JSON.stringify(answers, (key, value: unknown) =>
      ["workspaceId", "indexedAt", "ref"].includes(key) ? undefined : value,
    ),
  ) as unknown;
}

/** Statements of the steps. */
const setsSegment = ({ query }: Statement) => query.includes("update contents set segment = $");
const readsSections = ({ query }: Statement) => query.startsWith("select search_segments as segments");
const switches = ({ query }: Statement) => query.includes("insert into revisions");
const releases = ({ query }: Statement) => query.includes("update contents set segment = null");
const recordsTable = ({ query }: Statement) => query.startsWith("update revisions set search_table");
const listsLive = ({ query }: Statement) => query.startsWith("select distinct 'segment' as kind");

/** Whether the contents that a statement is about belong to a team; runs of others may go on meanwhile. */
const ofTeam =
  ({ tenantId, workspaceId }: Team, matches: (statement: Statement) => boolean) =>
  async (statement: Statement) => {
    if (!matches(statement)) return false;
    if (statement.params.some((param) => param === tenantId || param === workspaceId)) return true;
    const ids = statement.params.find((param) => String(param).startsWith("{")) ?? "";
    const { rows } = await db().execute(
      sql`select 1 from contents where tenant_id = ${tenantId} and id::text = any(string_to_array(trim(${ids}, '{}"'), '","'))`,
    );
    return rows.length > 0;
  };

/** What is there of a team's search index: objects by kind, contents that have a segment, and the table of the current revision. */
async function stateOf({ tenantId, workspaceId }: Team) {
  const { rows } = await db().execute(
    sql`select (select count(distinct segment)::int from contents where tenant_id = ${tenantId}) as named,
          (select count(*)::int from revisions where workspace_id = ${workspaceId}) as revisions`,
  );
  const counts = await Promise.all(SEARCH_KINDS.map(async (kind) => (await objects.keys(tenantId, kind)).length));
  const [segments, tables, vectors] = counts;
  return { segments, tables, vectors, ...rows[0] };
}

interface Kill {
  name: string;
  stop: Pick<Stop, "at" | "occurrence"> & { matches: (statement: Statement) => boolean };
  /** Whether the earlier pushes are indexed before, one by one. */
  hasHistory?: true;
  /** What the kill leaves behind. */
  left: Record<string, number>;
}

const KILLS: Kill[] = [
  {
    name: "a shard's segment is stored",
    stop: { at: "before", matches: setsSegment },
    left: { segments: 1, named: 0, tables: 0, vectors: 0, revisions: 0 },
  },
  {
    name: "the contents name their segment",
    stop: { at: "after", matches: setsSegment },
    left: { segments: 1, named: 1, tables: 0, vectors: 0, revisions: 0 },
  },
  {
    name: "a table is stored",
    stop: { at: "before", matches: readsSections },
    left: { segments: 1, named: 1, tables: 1, vectors: 0, revisions: 0 },
  },
  {
    name: "a vector section is stored",
    stop: { at: "before", matches: switches },
    left: { segments: 1, named: 1, tables: 1, vectors: 1, revisions: 0 },
  },
  {
    name: "the revision is switched",
    stop: { at: "after", matches: switches },
    left: { segments: 1, named: 1, tables: 1, vectors: 1, revisions: 1 },
  },
  {
    name: "a merged segment is stored",
    stop: { at: "before", matches: setsSegment, occurrence: 2 },
    hasHistory: true,
    left: { segments: PUSHES + 1, named: PUSHES, tables: LAST_PUSH, revisions: LAST_PUSH },
  },
  {
    name: "the contents name the merged segment",
    stop: { at: "after", matches: setsSegment, occurrence: 2 },
    hasHistory: true,
    left: { segments: PUSHES + 1, named: 1, tables: LAST_PUSH, revisions: LAST_PUSH },
  },
];

it("answers like a service that was never killed, wherever a run, a repair or a sweep is killed", async () => {
  const undisturbed = await newTeam();
  const victims = await Promise.all(
    KILLS.map(async (kill) => {
      const team = await newTeam();
      if (kill.hasHistory) await indexEarlier(team);
      return Object.assign(kill, { team });
    }),
  );
  await undisturbed.client.index(requestOf(undisturbed, LAST_PUSH));
  const expected = await answersOf(undisturbed);

  for (const { name, team, stop, left } of victims) {
    const killed = service.killAt({ ...stop, matches: ofTeam(team, stop.matches) });
    await team.client.startIndex(requestOf(team, LAST_PUSH));
    await killed;
    await service.resume();
    expect(await stateOf(team), name).toMatchObject(left);
  }
  // Nobody asks the service about the runs: they go on by themselves.
  const ended = async () => (await db().execute(sql`select 1 from runs where state in ('queued', 'running')`)).rows;
  await expect.poll(ended, { timeout: RESUME_MS, interval: 200 }).toEqual([]);
  const [damaged] = victims as [(typeof victims)[0]];
  await killRepairs(damaged.team, expected);
  for (const { name, team } of victims) expect(await answersOf(team), name).toEqual(expected);
  await killSweep();
  for (const { name, team } of victims) expect(await answersOf(team), name).toEqual(expected);
  expect(await answersOf(undisturbed)).toEqual(expected);
}, 600_000);

/**
 * Damages a segment that no isolate has read since the last start, and kills its repair at two steps; the next request asks for it again.
 * All objects are old afterwards, but for those that the repair has written.
 */
async function killRepairs(team: Team, expected: unknown): Promise<void> {
  const ask = () => answersOf(team).catch((error: unknown) => (error as { code: string }).code);
  const { rows } = await db().execute(
    sql`select unnest(search_segments) as id from revisions where workspace_id = ${team.workspaceId}`,
  );
  await objects.damage(`search/${team.tenantId}/segments/${String(rows[0]?.["id"])}`);
  for (const [at, matches] of [
    ["after", releases],
    ["before", recordsTable],
  ] as const) {
    await service.resume();
    const killed = service.killAt({ at, matches });
    expect(await ask()).toBe("UNAVAILABLE");
    await killed;
  }
  await service.stop();
  makeObjectsOld(service.dataDir);
  await service.restart();
  await expect.poll(ask, { timeout: RESUME_MS, interval: 500 }).toEqual(expected);
}

/** Kills the daily job between its look at the rows and its deletions, and lets it run again. */
async function killSweep(): Promise<void> {
  const before = new Set(await objects.keys());
  const killed = service.killAt({ at: "after", matches: listsLive, occurrence: 2 });
  // The job's own promise may never settle: its process is gone.
  service.runScheduled().catch(() => undefined);
  await killed;
  await service.resume();
  await service.runScheduled();
  const after = await objects.keys();
  expect(after.length).toBeLessThan(before.size);
  const { rows } = await db().execute(
    sql`select 'search/' || tenant_id || '/segments/' || segment as key from contents where segment is not null
        union select 'search/' || w.tenant_id || '/' || o.key from revisions r join workspaces w on w.id = r.workspace_id, lateral (
          select 'tables/' || r.search_table as key union select 'segments/' || unnest(r.search_segments)
          union select 'vectors/' || unnest(r.search_vectors)) o where o.key is not null`,
  );
  expect(after.toSorted()).toEqual(rows.map(({ key }) => String(key)).toSorted());
}

/** Sets the time of upload of all objects back beyond the sweep's grace. The service must be stopped. */
function makeObjectsOld(dataDir: string): void {
  const root = path.join(dataDir, "objects", "r2");
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".sqlite") || name.endsWith("metadata.sqlite")) continue;
    const store = new DatabaseSync(path.join(root, name));
    store.prepare("update _mf_objects set uploaded = uploaded - ?").run(2 * DAY_MS);
    store.close();
  }
}

/** When the service's log says that an event happened to a workspace, in milliseconds, in order. */
function timesOf(event: string, workspaceId: string): number[] {
  const lines = readFileSync(path.join(service.dataDir, "logs", "workers.log"), "utf8").split("\n");
  const own = lines.filter((line) => line.includes(`"${event}"`) && line.includes(workspaceId));
  return own.map((line) => Date.parse((JSON.parse(line) as { time: string }).time)).toSorted((a, b) => a - b);
}

it("rebuilds a damaged or missing object once, of its workspace only, and answers for the others meanwhile", async () => {
  await Promise.all(SEARCH_KINDS.flatMap((kind) => [checkRepair(kind, "damage"), checkRepair(kind, "delete")]));
}, 300_000);

/** Damages all objects of one kind of one of two workspaces, and searches both. */
async function checkRepair(kind: SearchKind, how: "damage" | "delete"): Promise<void> {
  const label = `${how} ${kind}`;
  const team = await newTeam();
  const { client, tenantId, workspaceId } = team;
  const { workspaceId: otherId } = await createWorkspace(db(), { tenantId });
  await client.index(requestOf(team, LAST_PUSH));
  const keys = await objects.keys(tenantId, kind);
  await client.index({ workspaceId: otherId, source: { type: "git", url: git.url("other") } });
  for (const key of keys) await objects[how](key);

  const query = "close the session once it expires";
  const searchBoth = () => client.search({ query });
  await expect(searchBoth(), label).rejects.toMatchObject({
    code: "UNAVAILABLE",
    status: 503,
    message: expect.stringContaining(`of ${workspaceId} is damaged`),
  });
  const other = await client.search({ query, workspaceId: otherId });
  expect(other.results, label).toMatchObject([{ path: "src/session.ts" }]);
  // Whether the index is whole again by then or not, they ask for no second repair.
  await Promise.allSettled(Array.from({ length: 20 }, searchBoth));
  const countIndexes = () =>
    searchBoth()
      .then(({ indexes }) => indexes.length)
      .catch(() => 0);
  await expect.poll(countIndexes, { timeout: RESUME_MS, interval: 500 }).toBe(2);
  expect((await client.search({ query, workspaceId })).results[0]?.path, label).toMatch(/session/);
  // On a machine so busy that a repair takes longer than this, it is asked for again.
  const requested = timesOf("search_repair_requested", workspaceId);
  const pauses = requested.slice(1).map((time, earlier) => time - (requested[earlier] ?? 0));
  expect(requested, label).not.toEqual([]);
  expect(
    pauses.filter((ms) => ms < REBUILD_EVERY_MS),
    label,
  ).toEqual([]);
  const rebuilt = timesOf("search_rebuilt", workspaceId).length;
  expect(rebuilt, label).toBeGreaterThan(0);
  expect(rebuilt, label).toBeLessThanOrEqual(requested.length);
  expect(timesOf("search_repair_requested", otherId), label).toEqual([]);
}
