import {
  CoverageQuery,
  CoverageResponse,
  FilesQuery,
  FilesResponse,
  GrepRequest,
  GrepResponse,
} from "../../../contract/index.ts";
import { coverageResponse, filesResponse, grepResponse } from "../../../interface/questions/exact-http.ts";
import { coverage, files, grep } from "../../../interface/questions/exact.ts";
import { route } from "../route.ts";
import { hostedIndex } from "../search-deps.ts";

const COMMON = { tag: "Search", credential: "api_key", surface: "search", counts: "search" } as const;
const SCOPE_ERRORS = ["INVALID_BODY", "INVALID_SELECTOR", "NO_WORKSPACE", "NO_INDEX", "UNAVAILABLE"] as const;

/** Every line that matches. */
export const grepRoute = route({
  ...COMMON,
  id: "grep",
  method: "POST",
  path: "/grep",
  summary: "Find every line that matches a pattern",
  description:
    "Reads the whole texts of one workspace (`repo` or `workspaceId`), of a `ref`, or of all workspaces of the tenant, also of files that `POST /search` does not rank. Patterns are in ripgrep's dialect and take time linear in the text. If `complete`, all text was searched, so a line that is not in `total` does not exist; otherwise `coverage.notSearched` counts what was not searched, by reason, and `GET /coverage` lists it. Lines that may hold a secret are neither searched nor shown. Counting goes on past `limit`, up to 64 MB of text or 2 seconds. Free of credits.",
  body: {
    schema: GrepRequest,
    example: { pattern: "close(Session|Stream)\\(", repo: "github.com/owner/name", context: 1 },
  },
  responses: {
    200: {
      description: "Lines of sources first, then of tests, documents and generated files; in order of path and line.",
      schema: GrepResponse,
    },
  },
  errors: SCOPE_ERRORS,
  handle: async (c, { principal, body }) => c.json(grepResponse(await hostedIndex(c, principal).ask(grep, body, body))),
});

/** What is searched, and why the rest is not. */
export const coverageRoute = route({
  ...COMMON,
  id: "coverage",
  method: "GET",
  path: "/coverage",
  summary: "Say which files are indexed or searched, and why others are not",
  query: CoverageQuery,
  responses: { 200: { description: "Counts, and the files that are not indexed.", schema: CoverageResponse } },
  errors: SCOPE_ERRORS,
  handle: async (c, { principal, query }) =>
    c.json(coverageResponse(await hostedIndex(c, principal).ask(coverage, query, query))),
});

/** Files and folders. */
export const filesRoute = route({
  ...COMMON,
  id: "files",
  method: "GET",
  path: "/files",
  summary: "List the files of a folder or a glob",
  query: FilesQuery,
  responses: { 200: { description: "Files and folders in order of path.", schema: FilesResponse } },
  errors: [...SCOPE_ERRORS, "NOT_FOUND"],
  handle: async (c, { principal, query }) =>
    c.json(filesResponse(await hostedIndex(c, principal).ask(files, query, query))),
});
