import { readFlag } from "../../lib/config.ts";
import { databaseOf } from "../../service/db/databases.ts";
import { createEmbedder, type Embedder, readAiBinding, readEmbedConfig } from "../../engines/embedding/index.ts";
import { workerTerms } from "../../engines/embedding/builtin/terms-worker.ts";
import { ApiError } from "../../lib/errors.ts";
import { type GitHostPolicy, readGitHosts } from "../../engines/git/wire/url.ts";
import { unseal } from "../../lib/seal.ts";
import { limitBucket } from "../../service/indexing/staging.ts";
import type { RunSpec, SourceAuth } from "../../service/db/run-spec.ts";
import { appReadToken } from "../../service/github/read-token.ts";
import type { StepContext } from "../../service/indexing/context.ts";
import type { StepDeps } from "../../service/indexing/steps.ts";
import { createLogger, type Logger } from "../../lib/log.ts";
import { workerGrammars } from "../../engines/parsing/grammars-worker.ts";
import { type CodeParser, createParser } from "../../engines/parsing/parser.ts";
import { readUses } from "../../engines/relations/read-uses.ts";
import { buildSnapshotRun } from "./snapshot-run.ts";

/** Upstream calls of one shard in flight at a time. An invocation has six connections; two stay free for storage and database. */
const EMBED_CONCURRENCY = 4;

const fetcher: typeof fetch = (input, init) => fetch(input, init);

/** Built once per isolate: all messages share the grammars, the wasm heap and the dimension of the model. */
interface Shared {
  env: IndexerEnv;
  log: Logger;
  embedder: Embedder | undefined;
  parser: Promise<CodeParser> | undefined;
}

let shared: Shared | undefined;

/** Builds what does not depend on the message; the environment of an isolate does not change. */
export function sharedOf(env: IndexerEnv): Shared {
  if (shared?.env === env) return shared;
  const vars = env as unknown as Record<string, unknown>;
  shared = {
    env,
    log: createLogger({ worker: "indexer" }),
    embedder: createEmbedder(readEmbedConfig(vars), {
      fetch: fetcher,
      concurrency: EMBED_CONCURRENCY,
      terms: workerTerms,
      ...readAiBinding(vars),
    }),
    parser: undefined,
  };
  return shared;
}

/** The parser of the isolate, started on first use. */
export function parserOf(own: Shared): Promise<CodeParser> {
  own.parser ??= createParser(workerGrammars(), { readUses }).catch((error: unknown) => {
    own.parser = undefined;
    throw error;
  });
  return own.parser;
}

/** Builds what indexing the edits of an overlay needs: its sender waits, and nothing renews a lease. */
export function overlayStep(env: IndexerEnv, run: RunSpec): StepContext {
  const usage = { token: run.runId, embedded: 0, embedMs: 0, tokens: 0 };
  const idle = { usage, beat: async () => {}, mark: () => {}, enter: async () => {} };
  return { ...stepDeps(env, run.workspaceId).context(run, 1), run, attempt: 1, ...idle };
}

/** Builds what the steps of one workspace's runs need from the environment. */
export function stepDeps(env: IndexerEnv, workspaceId: string): StepDeps {
  const own = sharedOf(env);
  const { log, embedder } = own;
  return {
    log,
    runs: env.WORKSPACE_RUNS.get(env.WORKSPACE_RUNS.idFromName(workspaceId)),
    context: (run, attempt) => {
      if (!embedder) throw new ApiError("EMBED_UNAVAILABLE", "no embedding provider is configured");
      return {
        db: databaseOf(env, run.tenantId),
        staging: limitBucket(env.STAGING),
        search: limitBucket(env.SNAPSHOTS),
        embedder,
        parser: () => parserOf(own),
        fetch: fetcher,
        gitHosts: gitHostsOf(env),
        openAuth: (auth) => openAuth(env, run, auth),
        region: env.REGION,
        log: log.with({ runId: run.runId, attempt }),
        now: Date.now,
      };
    },
    buildSnapshot: (step) => buildSnapshotRun(step, env.SNAPSHOTS),
  };
}

function gitHostsOf(env: IndexerEnv): GitHostPolicy {
  return { allowLocal: readFlag("GIT_ALLOW_LOCAL", env.GIT_ALLOW_LOCAL), hosts: readGitHosts(env.GIT_HOSTS) };
}

async function openAuth(env: IndexerEnv, run: RunSpec, auth: SourceAuth): ReturnType<StepContext["openAuth"]> {
  const encryptionKey = env.ENCRYPTION_KEY;
  if ("sealed" in auth) {
    const token = await unseal(encryptionKey, run.runId, auth.sealed);
    return { token, ...(auth.username === undefined ? {} : { username: auth.username }) };
  }
  const { tenantId, workspaceId, source } = run;
  const deps = { db: databaseOf(env, tenantId), fetch: fetcher, gitHosts: gitHostsOf(env), encryptionKey };
  return appReadToken(deps, { workspaceId, url: source.url });
}
