import type { SearchDeps } from "../search/service.ts";
import { SearchCache } from "../search/cache.ts";
import type { ApiContext } from "./context.ts";
import type { Services } from "./services.ts";

/** Smallest time between two rebuild requests for damaged indexes from one isolate. */
const REBUILD_EVERY_MS = 30_000;

/** Shared by all requests of the isolate; indexes are immutable. */
const cache = new SearchCache();
const askedAt = new Map<string, number>();

/** Dependencies of search, for a request. */
export function searchDeps(c: ApiContext): SearchDeps {
  return searchDepsOf(c.env, c.get("services"));
}

/** Dependencies of search, from the environment. */
export function searchDepsOf(env: ApiEnv, { db, log, now }: Pick<Services, "db" | "log" | "now">): SearchDeps {
  return {
    db,
    bucket: env.SNAPSHOTS,
    cache,
    repair: async ({ tenantId, workspaceId, seq }) => {
      const last = askedAt.get(workspaceId);
      if (last !== undefined && now() - last < REBUILD_EVERY_MS) return;
      askedAt.set(workspaceId, now());
      log.warn("search_index_damaged", { workspaceId, seq });
      await env.INDEX_QUEUE.send({ kind: "rebuild_search", tenantId, workspaceId, seq });
    },
  };
}
