import { WorkerEntrypoint } from "cloudflare:workers";
import { SearchRequest, type SearchResponse } from "../../contract/search.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import { count } from "../../service/gate/client.ts";
import { searchResponse } from "../../interface/questions/http.ts";
import { search } from "../../interface/questions/questions.ts";
import { HostedIndex } from "../../service/hosted-index/hosted-index.ts";
import { toApiError } from "./middleware/errors.ts";
import { searchDepsOf } from "./search-deps.ts";
import { servicesOf } from "./services.ts";

/** Why a search was refused; the text may be shown to the user. */
interface SearchRefusal {
  ok: false;
  code: ErrorCode;
  error: string;
}

/** RPC interface of search for the site Worker. */
export interface DashboardSearchApi {
  search(
    tenantId: string,
    request: { query: string; limit: number; workspaceId?: string },
  ): Promise<SearchResponse | SearchRefusal>;
}

/**
 * Search for the dashboard. Reachable only through the site Worker's service binding, which has authenticated the user. It runs in
 * the api Worker to share its cached indexes.
 */
export class DashboardSearch extends WorkerEntrypoint<ApiEnv> implements DashboardSearchApi {
  async search(
    tenantId: string,
    request: { query: string; limit: number; workspaceId?: string },
  ): Promise<SearchResponse | SearchRefusal> {
    try {
      const index = new HostedIndex(searchDepsOf(this.env, tenantId, servicesOf(this.env)), { tenantId });
      const body = SearchRequest.parse(request);
      const answer = searchResponse(await index.ask(search, body, body));
      await count(this.env.TENANT_GATE, tenantId, null, "search");
      return answer;
    } catch (error) {
      const { code, message } = toApiError(error);
      if (code === "INTERNAL") throw error;
      return { ok: false, code, error: message };
    }
  }
}
