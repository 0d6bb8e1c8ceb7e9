import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { emptyDatabase } from "./empty-database.ts";
import { type GitBackend, startGitBackend } from "./git-backend.ts";
import { GitRepo } from "./git-repo.ts";
import { Pipeline, type PipelineOptions } from "./pipeline.ts";

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
    databaseUrl = await emptyDatabase();
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
