import {
  FileQuery,
  FileResponse,
  MAX_LOOKUP_RESULTS,
  OutlineQuery,
  OutlineResponse,
  ReferencesQuery,
  ReferencesResponse,
  SearchRequest,
  SearchResponse,
  SymbolsQuery,
  SymbolsResponse,
} from "../../contract/index.ts";
import { file, outline, references, search, symbols } from "../../search/service.ts";
import { readQuery } from "../query.ts";
import { type Parameter, route } from "../route.ts";
import { rerankResults } from "../rerank-results.ts";
import { searchDeps } from "../search-deps.ts";

const TAG = "Search";

function parameter(name: string, description: string, schema: Record<string, unknown>, required = false): Parameter {
  return { name, in: "query", description, schema, ...(required && { required }) };
}

const text = { type: "string" };
const whole = { type: "integer", minimum: 1 };
const lookupLimit = { ...whole, maximum: MAX_LOOKUP_RESULTS };

/** Parameters that select a workspace and one of its revisions. */
const SELECTOR: Parameter[] = [
  parameter("repo", "Selector: the repo identity, such as `github.com/owner/name`.", text),
  parameter("workspaceId", "Selector: the workspace.", { type: "string", format: "uuid" }),
  parameter("ref", "Indexed branch, tag or full commit; default: the current revision.", text),
];

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
export const searchCode = route({
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
    const answer = await search(searchDeps(c, principal), principal.tenantId, body);
    return c.json(body.rerank === true ? await rerankResults(c, principal, body.query, answer) : answer);
  },
});

/** Definitions by name. */
export const findSymbols = route({
  ...COMMON,
  id: "symbols",
  path: "/symbols",
  summary: "Find definitions by name",
  parameters: [
    ...SELECTOR,
    parameter(
      "name",
      "A name, or a qualified name in any language's way: `Sinatra::Base`, `Plug.Builder`, `Outer.inner`.",
      text,
      true,
    ),
    parameter("match", "Default: exact, else prefix, else fuzzy.", {
      type: "string",
      enum: ["exact", "prefix", "fuzzy"],
    }),
    parameter("kind", "Kind of symbol, such as `class`.", text),
    parameter("limit", "Symbols at most; 20 without it.", lookupLimit),
  ],
  responses: { 200: { description: "The definitions.", schema: SymbolsResponse } },
  errors: LOOKUP_ERRORS,
  handle: async (c, { principal }) =>
    c.json(await symbols(searchDeps(c, principal), principal.tenantId, readQuery(c, SymbolsQuery, "INVALID_BODY"))),
});

/** Uses of an identifier. */
export const findReferences = route({
  ...COMMON,
  id: "references",
  path: "/references",
  summary: "Find where a name is used",
  description: "Names are compared, not resolved. Definitions are left out.",
  parameters: [
    ...SELECTOR,
    parameter("name", "Identifier; of a qualified name the last part.", text, true),
    parameter("limit", "References at most; 50 without it.", lookupLimit),
  ],
  responses: { 200: { description: "Lines in order of path.", schema: ReferencesResponse } },
  errors: LOOKUP_ERRORS,
  handle: async (c, { principal }) =>
    c.json(
      await references(searchDeps(c, principal), principal.tenantId, readQuery(c, ReferencesQuery, "INVALID_BODY")),
    ),
});

const PATH = parameter("path", "From the root of the repository.", text, true);

/** Symbols of a file. */
export const readOutline = route({
  ...COMMON,
  id: "outline",
  path: "/outline",
  summary: "List the symbols of a file",
  parameters: [...SELECTOR, PATH],
  responses: { 200: { description: "The symbols in order of line.", schema: OutlineResponse } },
  errors: LOOKUP_ERRORS,
  handle: async (c, { principal }) =>
    c.json(await outline(searchDeps(c, principal), principal.tenantId, readQuery(c, OutlineQuery, "INVALID_BODY"))),
});

/** Lines of a file. */
export const readLines = route({
  ...COMMON,
  id: "file",
  path: "/file",
  summary: "Read lines of a file as they were indexed",
  parameters: [...SELECTOR, PATH, parameter("start", "First line.", whole), parameter("end", "Last line.", whole)],
  responses: { 200: { description: "The lines. Those that may hold a secret are withheld.", schema: FileResponse } },
  errors: LOOKUP_ERRORS,
  handle: async (c, { principal }) =>
    c.json(await file(searchDeps(c, principal), principal.tenantId, readQuery(c, FileQuery, "INVALID_BODY"))),
});
