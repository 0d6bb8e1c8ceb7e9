import { WorkerEntrypoint } from "cloudflare:workers";
import type * as z from "zod";
import type { ErrorCode } from "../../contract/errors.ts";
import {
  CoverageQuery,
  type CoverageResponse,
  FilesQuery,
  type FilesResponse,
  GrepRequest,
  type GrepResponse,
} from "../../contract/exact.ts";
import {
  DefinitionQuery,
  type DefinitionResponse,
  FileQuery,
  type FileResponse,
  OutlineQuery,
  type OutlineResponse,
  SearchRequest,
  type SearchResponse,
  SymbolsQuery,
  type SymbolsResponse,
} from "../../contract/search.ts";
import { ReferencesQuery, type ReferencesResponse } from "../../contract/relations.ts";
import { count } from "../../service/gate/client.ts";
import { HostedIndex } from "../../service/hosted-index/hosted-index.ts";
import { coverageResponse, filesResponse, grepResponse } from "../../interface/questions/exact-http.ts";
import {
  definitionResponse,
  fileResponse,
  outlineResponse,
  referencesResponse,
  searchResponse,
  symbolsResponse,
} from "../../interface/questions/http.ts";
import { QUESTIONS } from "../../interface/questions/questions.ts";
import { invalidBody } from "../../lib/errors.ts";
import { describeIssue, toIssue } from "./issues.ts";
import { toApiError } from "./middleware/errors.ts";
import { searchDepsOf } from "./search-deps.ts";
import { servicesOf } from "./services.ts";

/** Why a question was refused; the text may be shown to the user. */
interface Refusal {
  ok: false;
  code: ErrorCode;
  error: string;
}

/** Questions of the dashboard, with their answers. */
export interface DashboardAnswers {
  search: SearchResponse;
  grep: GrepResponse;
  symbols: SymbolsResponse;
  definition: DefinitionResponse;
  references: ReferencesResponse;
  outline: OutlineResponse;
  file: FileResponse;
  files: FilesResponse;
  coverage: CoverageResponse;
}

/** RPC interface of the questions for the site Worker. */
export interface DashboardSearchApi {
  /** @param request as the contract's body or query string of the question */
  ask<N extends keyof DashboardAnswers>(
    tenantId: string,
    question: N,
    request: Record<string, unknown>,
  ): Promise<DashboardAnswers[N] | Refusal>;
}

const ASK: { [N in keyof DashboardAnswers]: (index: HostedIndex, request: unknown) => Promise<DashboardAnswers[N]> } = {
  search: async (index, request) => {
    const body = parse(SearchRequest, request);
    return searchResponse(await index.ask(QUESTIONS.search, body, body));
  },
  grep: async (index, request) => {
    const body = parse(GrepRequest, request);
    return grepResponse(await index.ask(QUESTIONS.grep, body, body));
  },
  symbols: async (index, request) => {
    const query = parse(SymbolsQuery, request);
    return symbolsResponse(await index.ask(QUESTIONS.symbols, query, query));
  },
  definition: async (index, request) => {
    const query = parse(DefinitionQuery, request);
    return definitionResponse(await index.ask(QUESTIONS.definition, query, query));
  },
  references: async (index, request) => {
    const query = parse(ReferencesQuery, request);
    return referencesResponse(await index.ask(QUESTIONS.references, query, query));
  },
  outline: async (index, request) => {
    const query = parse(OutlineQuery, request);
    return outlineResponse(await index.ask(QUESTIONS.outline, query, query));
  },
  file: async (index, request) => {
    const query = parse(FileQuery, request);
    return fileResponse(await index.ask(QUESTIONS.file, query, query));
  },
  files: async (index, request) => {
    const query = parse(FilesQuery, request);
    return filesResponse(await index.ask(QUESTIONS.files, query, query));
  },
  coverage: async (index, request) => {
    const query = parse(CoverageQuery, request);
    return coverageResponse(await index.ask(QUESTIONS.coverage, query, query));
  },
};

/** Those that `calls.search` of a team's usage counts. */
const COUNTED: ReadonlySet<keyof DashboardAnswers> = new Set(["search", "grep"]);

/** Throws `INVALID_BODY` with the rejected fields. */
function parse<T extends z.ZodType>(schema: T, request: unknown): z.output<T> {
  const parsed = schema.safeParse(request, { error: describeIssue });
  if (parsed.success) return parsed.data;
  throw invalidBody(parsed.error.issues.map(toIssue));
}

/**
 * Questions of the dashboard. Reachable only through the site Worker's service binding, which has authenticated the user. They run in
 * the api Worker to share its cached indexes.
 */
export class DashboardSearch extends WorkerEntrypoint<ApiEnv> implements DashboardSearchApi {
  async ask<N extends keyof DashboardAnswers>(
    tenantId: string,
    question: N,
    request: Record<string, unknown>,
  ): Promise<DashboardAnswers[N] | Refusal> {
    try {
      const index = new HostedIndex(searchDepsOf(this.env, tenantId, servicesOf(this.env)), { tenantId });
      const answer = await ASK[question](index, request);
      if (COUNTED.has(question)) await count(this.env.TENANT_GATE, tenantId, null, "search");
      return answer;
    } catch (error) {
      const { code, message } = toApiError(error);
      if (code === "INTERNAL") throw error;
      return { ok: false, code, error: message };
    }
  }
}
