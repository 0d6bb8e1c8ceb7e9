/** Questions to hosted indexes, answered in the contract's form as the routes do. */
import type { FileQuery, OutlineQuery, SearchRequest, SymbolsQuery } from "../../src/contract/search.ts";
import type { ReferencesQuery } from "../../src/contract/relations.ts";
import type { CoverageQuery, FilesQuery, GrepRequest } from "../../src/contract/exact.ts";
import * as exactHttp from "../../src/interface/questions/exact-http.ts";
import * as exact from "../../src/interface/questions/exact.ts";
import * as http from "../../src/interface/questions/http.ts";
import * as questions from "../../src/interface/questions/questions.ts";
import type { SearchDeps } from "../../src/service/hosted-index/core.ts";
import { HostedIndex } from "../../src/service/hosted-index/hosted-index.ts";

const indexOf = (deps: SearchDeps, tenantId: string) => new HostedIndex(deps, { tenantId });

export async function search(deps: SearchDeps, tenantId: string, request: SearchRequest) {
  return http.searchResponse(await indexOf(deps, tenantId).ask(questions.search, request, request));
}

export async function symbols(deps: SearchDeps, tenantId: string, query: SymbolsQuery) {
  return http.symbolsResponse(await indexOf(deps, tenantId).ask(questions.symbols, query, query));
}

export async function references(deps: SearchDeps, tenantId: string, query: ReferencesQuery) {
  return http.referencesResponse(await indexOf(deps, tenantId).ask(questions.references, query, query));
}

export async function outline(deps: SearchDeps, tenantId: string, query: OutlineQuery) {
  return http.outlineResponse(await indexOf(deps, tenantId).ask(questions.outline, query, query));
}

export async function file(deps: SearchDeps, tenantId: string, query: FileQuery) {
  return http.fileResponse(await indexOf(deps, tenantId).ask(questions.file, query, query));
}

export async function grep(deps: SearchDeps, tenantId: string, request: GrepRequest) {
  return exactHttp.grepResponse(await indexOf(deps, tenantId).ask(exact.grep, request, request));
}

export async function coverage(deps: SearchDeps, tenantId: string, query: CoverageQuery) {
  return exactHttp.coverageResponse(await indexOf(deps, tenantId).ask(exact.coverage, query, query));
}

export async function files(deps: SearchDeps, tenantId: string, query: FilesQuery) {
  return exactHttp.filesResponse(await indexOf(deps, tenantId).ask(exact.files, query, query));
}
