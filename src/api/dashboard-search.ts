import { WorkerEntrypoint } from "cloudflare:workers";
import { SearchRequest, type SearchResponse } from "../contract/search.ts";
import { ApiError } from "../errors.ts";
import { count } from "../gate/client.ts";
import { search } from "../search/service.ts";
import { searchDepsOf } from "./search-deps.ts";
import { servicesOf } from "./services.ts";

/** Why there is no answer; the text is fit for the person who asked. */
export interface SearchRefusal {
  ok: false;
  code: string;
  error: string;
}

/** Search as the site Worker calls it. */
export interface DashboardSearchApi {
  search(
    tenantId: string,
    request: { query: string; limit: number; workspaceId?: string },
  ): Promise<SearchResponse | SearchRefusal>;
}

/**
 * Search for the dashboard, over a service binding of the site Worker alone: it has checked who asks. It runs here because this isolate
 * keeps the indexes that API clients search too.
 */
export class DashboardSearch extends WorkerEntrypoint<ApiEnv> implements DashboardSearchApi {
  async search(
    tenantId: string,
    request: { query: string; limit: number; workspaceId?: string },
  ): Promise<SearchResponse | SearchRefusal> {
    try {
      const deps = searchDepsOf(this.env, servicesOf(this.env));
      const answer = await search(deps, tenantId, SearchRequest.parse(request));
      await count(this.env.TENANT_GATE, tenantId, null, "search");
      return answer;
    } catch (error) {
      if (error instanceof ApiError) return { ok: false, code: error.code, error: error.message };
      throw error;
    }
  }
}
