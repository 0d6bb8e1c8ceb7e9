/** Tenants of the benchmarks of hosted search, and what is asked of them. */
import { execFileSync } from "node:child_process";
import { CodeContextClient, CodeContextError } from "../../src/interface/client/index.ts";
import { openDb } from "../../src/service/db/client.ts";
import { type RunningService, startService } from "../../src/tooling/local/stack/service.ts";
import type { ServiceFile } from "../../src/tooling/local/stack/service-file.ts";
import { createTenant, createWorkspace } from "../../src/service/tenancy/index.ts";

/** For benchmarks that ask more than a tenant may. */
const RATE_LIMITS =
  '{"index":{"limit":1000000},"search":{"limit":1000000000},"metered":{"limit":1000000},"mcp":{"limit":1000000000}}';

/** Starts a local service with its data in `dataDir`, which may clone over http and has no rate limits. */
export function startBenchService(dataDir: string, inspectorPort?: number): Promise<RunningService> {
  const vars = { GIT_ALLOW_LOCAL: "true", RATE_LIMITS };
  return startService({ dataDir, port: 0, sitePort: 0, ...(inspectorPort !== undefined && { inspectorPort }), vars });
}

/** A tenant with one workspace. */
export interface Team {
  client: CodeContextClient;
  tenantId: string;
  workspaceId: string;
}

export async function newTeam({ apiUrl, databaseUrl }: ServiceFile): Promise<Team> {
  const db = openDb(databaseUrl);
  const { tenantId, apiKey, workerToken } = await createTenant(db, { name: "bench", monthlyCredits: 1_000_000 });
  const { workspaceId } = await createWorkspace(db, { tenantId });
  return { client: new CodeContextClient({ baseUrl: apiUrl, apiKey, workerToken }), tenantId, workspaceId };
}

/** Indexes a ref, or the default branch. */
export function indexRef({ client, workspaceId }: Team, url: string, ref?: string, current = true) {
  return client.index({
    workspaceId,
    source: { type: "git", url, ...(ref !== undefined && { ref }) },
    options: { current },
  });
}

/** Runs git in a repository that may belong to another user. */
export function gitIn(repository: string, ...args: string[]): string {
  return execFileSync("git", ["-c", "safe.directory=*", "-C", repository, ...args], { maxBuffer: 1 << 30 })
    .toString()
    .trimEnd();
}

/** `count` of the values, evenly spread, the last one among them. */
export function spread<T>(values: readonly T[], count: number): T[] {
  const step = Math.max(1, values.length / count);
  return Array.from({ length: Math.min(count, values.length) }, (_, i) => values.length - 1 - Math.floor(i * step))
    .toReversed()
    .flatMap((i) => values[i] ?? []);
}

/** Tags in order of their commits, the oldest first. */
export function tagsOf(repository: string): string[] {
  return gitIn(repository, "tag", "--sort=creatordate").split("\n");
}

export type Question = (team: Team, ref?: string) => Promise<unknown>;

/**
 * Questions about a repository: subjects of its commits, and for its files look-ups of each kind. Deterministic.
 */
export function questionsAbout(repository: string, ref: string, count: number): Question[] {
  const subjects = [...new Set(gitIn(repository, "log", "--format=%s", ref).split("\n"))].filter((text) => text !== "");
  const paths = gitIn(repository, "ls-tree", "-r", "--name-only", ref).split("\n");
  const names = [...new Set(subjects.join(" ").match(/[A-Za-z_][A-Za-z0-9_.]{3,40}/g) ?? [])];
  const half = Math.ceil(count / 2);
  const searches = spread(subjects, half).map((query): Question => {
    return ({ client, workspaceId }, at) => client.search({ workspaceId, query, ...refOf(at) });
  });
  const lookUps = Array.from({ length: count - searches.length }, (_, i): Question => {
    const name = names[(i * 7) % names.length] ?? "main";
    const path = paths[(i * 11) % paths.length] ?? "README.md";
    return ({ client, workspaceId }, at) => {
      const selector = { workspaceId, ...refOf(at) };
      switch (i % 8) {
        case 0:
          return client.symbols({ ...selector, name });
        case 1:
          return client.references({ ...selector, name });
        case 2:
          return client.references({ ...selector, name, relation: "callers" });
        case 3:
          return client.references({ ...selector, path, relation: "importers" });
        case 4:
          return client.impact({ ...selector, paths: [path] });
        case 5:
          return client.grep({ ...selector, pattern: name, wordRegexp: true });
        case 6:
          return client.outline({ ...selector, path });
        default:
          return client.file({ ...selector, path, start: 1, end: 40 });
      }
    };
  });
  return [...searches, ...lookUps];
}

const refOf = (ref: string | undefined) => (ref === undefined ? {} : { ref });

/** What differs between two workspaces that hold the same commit. */
const OWN_FIELDS = new Set(["workspaceId", "repo", "indexedAt"]);

/** An answer as text, errors included, without what differs between two workspaces that hold the same commit. */
export async function answerTo(question: Question, team: Team, ref?: string): Promise<string> {
  const answer = await question(team, ref).catch((error: unknown) => {
    if (error instanceof CodeContextError && error.status === 404) return { code: error.code, message: error.message };
    throw error;
  });
  return JSON.stringify(answer, (key, value: unknown) => (OWN_FIELDS.has(key) ? undefined : value));
}
