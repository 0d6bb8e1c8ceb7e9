import { readFlag } from "../../lib/config.ts";
import { ApiError } from "../../lib/errors.ts";
import type { Principal } from "../../service/gate/types.ts";
import { databaseOf } from "../../service/db/databases.ts";
import { queueOf } from "../../service/runs/queues.ts";
import { SearchCache } from "../../service/hosted-index/cache.ts";
import type { SearchDeps } from "../../service/hosted-index/core.ts";
import { HostedIndex } from "../../service/hosted-index/hosted-index.ts";
import { cachedBucket } from "../../service/hosted-index/platform-cache.ts";
import type { SearchBucket } from "../../service/hosted-index/store.ts";
import { type QueryModel, QueryVectorCache } from "../../service/hosted-index/vectors.ts";
import type { ApiContext } from "./context.ts";
import { runMetered } from "./metering.ts";
import type { Services } from "./services.ts";

/** Smallest time between two repair requests for a workspace from one isolate. */
const REBUILD_EVERY_MS = 30_000;

/** Shared by all requests of the isolate; indexes are immutable. */
const cache = new SearchCache();
const queryVectors = new QueryVectorCache();
const askedAt = new Map<string, number>();
/** Workspaces in `askedAt`; beyond, those asked for longest ago are forgotten. */
const MAX_ASKED = 1_000;

/** Dependencies of search, for a request. Embedding the query is charged to the tenant whose key was sent. */
function searchDeps(c: ApiContext, principal: Principal): SearchDeps {
  return { ...searchDepsOf(c.env, principal.tenantId, c.get("services")), model: queryModel(c, principal) };
}

/** The indexes that the sender of a credential may ask. */
export function hostedIndex(c: ApiContext, principal: Principal): HostedIndex {
  return new HostedIndex(searchDeps(c, principal), principal);
}

/** Keeps the current request's context alive. The module exists in Workers only; Node, which loads the routes for the docs, never gets here. */
function later(work: Promise<unknown>): void {
  void import("cloudflare:workers").then(({ waitUntil }) => waitUntil(work));
}

let built: { env: ApiEnv; bucket: SearchBucket } | undefined;

/** The bucket of the search objects, with the platform's cache in front of it where that is switched on. */
function bucketOf(env: ApiEnv): SearchBucket {
  if (built?.env === env) return built.bucket;
  const bucket = readFlag("SEARCH_CACHE", env.SEARCH_CACHE)
    ? cachedBucket(env.SNAPSHOTS, () => caches.open("search"), {
        isDamaged: (key) => cache.isDamaged(key),
        later,
      })
    : env.SNAPSHOTS;
  built = { env, bucket };
  return bucket;
}

/** Dependencies of search, from the environment. Without a model, since there is no key to charge. */
export function searchDepsOf(env: ApiEnv, tenantId: string, { log, now }: Pick<Services, "log" | "now">): SearchDeps {
  return {
    db: databaseOf(env, tenantId),
    bucket: bucketOf(env),
    cache,
    regexModule: async () => (await import("./regex-module.ts")).default,
    repair: async ({ tenantId, workspaceId, seq }) => {
      const last = askedAt.get(workspaceId);
      if (last !== undefined && now() - last < REBUILD_EVERY_MS) return;
      // Entered anew, so that the first entry is the oldest.
      askedAt.delete(workspaceId);
      askedAt.set(workspaceId, now());
      for (const oldest of askedAt.keys()) {
        if (askedAt.size <= MAX_ASKED) break;
        askedAt.delete(oldest);
      }
      log.warn("search_repair_requested", { workspaceId, seq });
      try {
        await queueOf(env, workspaceId).send({ kind: "rebuild_search", tenantId, workspaceId, seq });
      } catch (error) {
        // The next request asks again; this one is told to come back all the same.
        askedAt.delete(workspaceId);
        log.error("search_repair_not_requested", error, { workspaceId, seq });
      }
    },
  };
}

/** Errors that cost quality only: the answer is ranked by the words of the query. */
const DEGRADING_ERRORS = new Set(["UPSTREAM_ERROR", "UPSTREAM_UNREACHABLE", "UPSTREAM_TIMEOUT", "QUOTA_EXCEEDED"]);

function queryModel(c: ApiContext, principal: Principal): QueryModel | undefined {
  const { embedder, now } = c.get("services");
  if (embedder?.isModel !== true) return undefined;
  const { fingerprint } = embedder;
  const { tenantId } = principal;
  return {
    fingerprint,
    embed: async (query) => {
      const known = queryVectors.get(tenantId, fingerprint, query, now());
      if (known) return known;
      try {
        const { result } = await runMetered(c, principal, "embed", [query], (options) =>
          embedder.embed([query], { ...options, inputType: "query" }),
        );
        const [vector] = result.vectors;
        if (vector) queryVectors.set(tenantId, fingerprint, query, vector, now());
        return vector;
      } catch (error) {
        if (error instanceof ApiError && DEGRADING_ERRORS.has(error.code)) return undefined;
        throw error;
      }
    },
  };
}
