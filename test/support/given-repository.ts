import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { sql } from "drizzle-orm";
import { openDb } from "../../src/service/db/client.ts";
import { rowsOf } from "../../src/service/db/rows.ts";
import { startDatabase } from "../../src/tooling/local/database/database.ts";
import { type GitBackend, startGitBackend } from "./git-backend.ts";
import { GitRepo } from "./git-repo.ts";
import { Pipeline, type PipelineOptions } from "./pipeline.ts";

/** Of this process, whose test files use it one after another; it ends with the process. */
let database: Promise<{ url: string }> | undefined;
let databaseUrl: string;
/** An empty repository. */
export let repo: GitRepo;
/** Serves the repository. */
export let git: GitBackend;
/** Indexes into a workspace of its own. */
export let pipeline: Pipeline;

/**
 * Empties the database for the tests of a file, and sets `repo`, `git` and `pipeline` anew before each of them; with `isShared`, once
 * for all of them.
 */
export function givenRepository({ isShared = false } = {}): void {
  beforeAll(async () => {
    database ??= startDatabase();
    databaseUrl = (await database).url;
    await empty(databaseUrl);
  });
  (isShared ? beforeAll : beforeEach)(async () => {
    repo = new GitRepo();
    git = await startGitBackend(repo.root);
    pipeline = await newPipeline();
  });
  (isShared ? afterAll : afterEach)(async () => {
    await git.close();
    repo.remove();
  });
}

/** A pipeline of a new workspace on the same database. */
export function newPipeline(options?: PipelineOptions): Promise<Pipeline> {
  return new Pipeline(databaseUrl, options).prepare();
}

/** Removes all rows, of all tables. */
async function empty(url: string): Promise<void> {
  const db = openDb(url);
  const tables = await rowsOf<{ name: string }>(
    db,
    sql`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  );
  await db.execute(sql.raw(`truncate ${tables.map(({ name }) => name).join(", ")} restart identity`));
}
