import {
  DefinitionQuery,
  DefinitionResponse,
  FileQuery,
  FileResponse,
  ImpactRequest,
  ImpactResponse,
  OutlineQuery,
  OutlineResponse,
  PathQuery,
  PathResponse,
  ReferencesQuery,
  ReferencesResponse,
  SearchRequest,
  SearchResponse,
  SymbolsQuery,
  SymbolsResponse,
} from "../../../contract/index.ts";
import {
  definitionResponse,
  fileResponse,
  impactResponse,
  outlineResponse,
  pathResponse,
  referencesResponse,
  searchResponse,
  symbolsResponse,
} from "../../../interface/questions/http.ts";
import {
  definition,
  file,
  impact,
  outline,
  path,
  references,
  search,
  symbols,
} from "../../../interface/questions/questions.ts";
import { rerankResults } from "../rerank-results.ts";
import { route } from "../route.ts";
import { hostedIndex } from "../search-deps.ts";

const TAG = "Search";

const COMMON = { method: "GET", tag: TAG, credential: "api_key", surface: "search" } as const;
const LOOKUP_ERRORS = [
  "INVALID_BODY",
  "INVALID_SELECTOR",
  "NO_WORKSPACE",
  "NO_INDEX",
  "NOT_FOUND",
  "UNAVAILABLE",
] as const;

/** Searches the code of one or all workspaces. */
export const searchRoute = route({
  id: "search",
  method: "POST",
  path: "/search",
  tag: TAG,
  summary: "Search what is indexed",
  description:
    "Reads the current revision of one workspace (`repo` or `workspaceId`), or of all workspaces of the tenant. `indexes` names the commit that each answer is from; the same `digest` and request give the same answer. If the service has an embedding model, workspaces indexed with it are also ranked by the query's vector. Embedding the query costs what `POST /embed` costs (one credit; nothing for the same query within ten minutes); if the provider fails or the quota is used up, the answer is ranked without the vector and has `degraded`. `rerank` costs what `POST /rerank` costs. Otherwise searching is free.",
  credential: "api_key",
  surface: "search",
  counts: "search",
  body: {
    schema: SearchRequest,
    example: { query: "how are sessions closed", repo: "github.com/owner/name", limit: 5 },
  },
  responses: {
    200: { description: "Places in order of relevance, one a file unless two are far apart.", schema: SearchResponse },
  },
  errors: ["INVALID_SELECTOR", "NO_WORKSPACE", "NO_INDEX", "QUOTA_EXCEEDED", "UNAVAILABLE"],
  handle: async (c, { principal, body }) => {
    const answer = searchResponse(await hostedIndex(c, principal).ask(search, body, body));
    return c.json(body.rerank === true ? await rerankResults(c, principal, body.query, answer) : answer);
  },
});

/** Definitions by name. */
export const symbolsRoute = route({
  ...COMMON,
  id: "symbols",
  path: "/symbols",
  summary: "Find definitions by name",
  query: SymbolsQuery,
  responses: { 200: { description: "The definitions.", schema: SymbolsResponse } },
  errors: LOOKUP_ERRORS,
  handle: async (c, { principal, query }) =>
    c.json(symbolsResponse(await hostedIndex(c, principal).ask(symbols, query, query))),
});

/** Uses of an identifier. */
export const referencesRoute = route({
  ...COMMON,
  id: "references",
  path: "/references",
  summary: "Find where a name is used",
  description: "Names are compared, not resolved. Definitions are left out.",
  query: ReferencesQuery,
  responses: { 200: { description: "Lines in order of path.", schema: ReferencesResponse } },
  errors: LOOKUP_ERRORS,
  handle: async (c, { principal, query }) =>
    c.json(referencesResponse(await hostedIndex(c, principal).ask(references, query, query))),
});

/** What the name at a position means. */
export const definitionRoute = route({
  ...COMMON,
  id: "definition",
  path: "/definition",
  summary: "Find what a name in a file means",
  description:
    "Follows the language's rules from the name at a position to its definition; on a definition itself, that one. Each definition has its `certainty`: `certain` by the rules, `likely` where the name stands on the line with several meanings or is not called there, `name` where only the name is the same.",
  query: DefinitionQuery,
  responses: {
    200: {
      description: "The definitions; none for a name of another package, a parameter or a local variable.",
      schema: DefinitionResponse,
    },
  },
  errors: LOOKUP_ERRORS,
  handle: async (c, { principal, query }) =>
    c.json(definitionResponse(await hostedIndex(c, principal).ask(definition, query, query))),
});

/** Calls that lead from one definition to another. */
export const pathRoute = route({
  ...COMMON,
  id: "path",
  path: "/path",
  summary: "Find how one definition reaches another",
  description:
    "Follows calls by the language's rules. Where these lead nowhere, a call of which only the name is known leads to the definitions of that name, if they are three at most.",
  query: PathQuery,
  responses: {
    200: { description: "Paths, the shortest first; none if no call is known to lead there.", schema: PathResponse },
  },
  errors: LOOKUP_ERRORS,
  handle: async (c, { principal, query }) =>
    c.json(pathResponse(await hostedIndex(c, principal).ask(path, query, query))),
});

/** What a change concerns. */
export const impactRoute = route({
  id: "impact",
  method: "POST",
  path: "/impact",
  tag: TAG,
  summary: "Say what a change concerns",
  description:
    "Takes a definition (`name`), files (`paths`) or a unified diff (`patch`), one of the three, of one workspace. `files` ranks what likely needs a change or a run too: by the words of the change, by the names that it defines and uses, by file names, folders and imports. `dependents` and `tests` follow calls up to `depth` steps; what goes through a registry, reflection or an untyped value is not followed. A patch may be against the indexed commit, or be part of it already. Where several workspaces are readable, the one that has most of the files is meant. Free of credits.",
  credential: "api_key",
  surface: "search",
  body: {
    schema: ImpactRequest,
    example: { repo: "github.com/owner/name", paths: ["src/session-store.ts"] },
  },
  responses: {
    200: { description: "What the change concerns, the likeliest and surest first.", schema: ImpactResponse },
  },
  errors: ["INVALID_SELECTOR", "NO_WORKSPACE", "NO_INDEX", "NOT_FOUND", "UNAVAILABLE"],
  handle: async (c, { principal, body }) =>
    c.json(impactResponse(await hostedIndex(c, principal).ask(impact, body, body))),
});

/** Symbols of a file. */
export const outlineRoute = route({
  ...COMMON,
  id: "outline",
  path: "/outline",
  summary: "List the symbols of a file",
  query: OutlineQuery,
  responses: { 200: { description: "The symbols in order of line.", schema: OutlineResponse } },
  errors: LOOKUP_ERRORS,
  handle: async (c, { principal, query }) =>
    c.json(outlineResponse(await hostedIndex(c, principal).ask(outline, query, query))),
});

/** Lines of a file. */
export const fileRoute = route({
  ...COMMON,
  id: "file",
  path: "/file",
  summary: "Read lines of a file as they were indexed",
  query: FileQuery,
  responses: { 200: { description: "The lines. Those that may hold a secret are withheld.", schema: FileResponse } },
  errors: LOOKUP_ERRORS,
  handle: async (c, { principal, query }) =>
    c.json(fileResponse(await hostedIndex(c, principal).ask(file, query, query))),
});
