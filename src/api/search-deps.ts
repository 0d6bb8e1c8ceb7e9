import type { SearchDeps } from "../search/service.ts";
import { SearchCache } from "../search/cache.ts";
import type { ApiContext } from "./context.ts";
import type { Services } from "./services.ts";

/** One isolate asks for the rebuild of a damaged index no more often than this. */
const REBUILD_EVERY_MS = 30_000;

/** Of the isolate: indexes are immutable, so every request may use what another has read. */
const cache = new SearchCache();
const askedAt = new Map<string, number>();

/** What search needs, for a request. */
export function searchDeps(c: ApiContext): SearchDeps {
  return searchDepsOf(c.env, c.get("services"));
}

/** What search needs of the environment. */
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
