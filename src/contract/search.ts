/** Requests and answers of `/search`, `/symbols`, `/references`, `/outline` and `/file`. */
import * as z from "zod";
import { nonEmptyText, numberParameter, text } from "./text.ts";

export const MAX_QUERY_CHARACTERS = 32_768;
export const MAX_SEARCH_RESULTS = 50;
export const MAX_SEARCH_TOKENS = 32_000;
const MAX_NAME_CHARACTERS = 300;
const MAX_PATH_CHARACTERS = 4_096;
export const MAX_LOOKUP_RESULTS = 200;
/** Beyond every file that is indexed. */
const MAX_LINE = 1_000_000_000;

/** Selects one workspace and one of its revisions. Without a selector, `POST /search` searches all workspaces of the tenant. */
const selector = {
  repo: text.max(2_000).optional().describe("Repository identity, such as `github.com/owner/name`."),
  workspaceId: text.max(100).optional().describe("UUID of the workspace."),
  ref: nonEmptyText
    .max(500)
    .optional()
    .describe("Indexed branch, tag or full commit; without it the current revision."),
};

const globs = z.array(nonEmptyText.max(500)).max(50);
const names = z.array(nonEmptyText.max(64)).max(50);

export const SearchRequest = z
  .object({
    query: nonEmptyText
      .max(MAX_QUERY_CHARACTERS)
      .describe(
        'Words, identifiers or a whole issue text. `"quoted"` must occur literally; `path:GLOB` and `lang:ID` filter.',
      ),
    ...selector,
    limit: z.int().min(1).max(MAX_SEARCH_RESULTS).default(10).describe("Results at most."),
    paths: globs.optional().describe("Globs; a file must match one of them and none that begins with `!`."),
    languages: names.optional(),
    kinds: names.optional().describe("Symbol kinds that a result must lie in or define."),
    maxTokens: z
      .int()
      .min(200)
      .max(MAX_SEARCH_TOKENS)
      .optional()
      .describe("Budget of all snippets together, in tokens of four characters; 4,000 without it."),
    include: z
      .array(z.enum(["tests", "docs", "examples", "generated"]))
      .max(4)
      .optional()
      .describe("Kinds of file that are not to rank lower than the rest."),
    rerank: z.boolean().optional().describe("Let the reranker order the best results. Costs credits."),
  })
  .meta({ id: "SearchRequest" });
export type SearchRequest = z.output<typeof SearchRequest>;

const Line = z.int().min(1);

const SymbolShape = {
  name: z.string(),
  qualifiedName: z.string(),
  kind: z.string(),
  signature: z.string(),
};

/** The revision that an answer comes from. */
export const SearchedIndex = z
  .object({
    repo: z.string().nullable(),
    workspaceId: z.uuid(),
    ref: z.string().nullable().describe("The ref that was asked for; else the default branch, if it is known."),
    gitSha: z.string(),
    indexedAt: z.iso.datetime(),
    fingerprint: z.string(),
    digest: z
      .string()
      .describe("Names all that the ranking depends on: the same digest and request give the same answer."),
  })
  .meta({ id: "SearchedIndex" });
export type SearchedIndex = z.infer<typeof SearchedIndex>;

export const SearchResult = z
  .object({
    repo: z.string().nullable(),
    workspaceId: z.uuid(),
    gitSha: z.string(),
    path: z.string(),
    language: z.string(),
    startLine: Line,
    endLine: Line,
    symbol: z.object(SymbolShape).nullable(),
    score: z.number(),
    snippet: z.string(),
    matched: z
      .array(
        z.object({
          kind: z.enum(["word", "literal", "path", "definition", "mention", "similarity"]),
          text: z.string(),
        }),
      )
      .describe("Why it was found, the strongest reasons first."),
  })
  .meta({ id: "SearchResult" });
export type SearchResult = z.infer<typeof SearchResult>;

export const SearchResponse = z
  .object({
    ok: z.literal(true),
    results: z.array(SearchResult),
    indexes: z.array(SearchedIndex),
    truncated: z.boolean(),
    tokens: z.int().describe("Tokens of all snippets together."),
    degraded: z
      .enum(["embedding", "rerank"])
      .optional()
      .describe("The provider that failed: the answer is ranked without it."),
    usage: z.object({ credits: z.int() }).optional().describe("Credits charged for reranking."),
  })
  .meta({ id: "SearchResponse" });
export type SearchResponse = z.infer<typeof SearchResponse>;

const limit = (fallback: number) => numberParameter(1, MAX_LOOKUP_RESULTS).default(fallback);
const line = numberParameter(1, MAX_LINE).optional();

export const SymbolsQuery = z.object({
  ...selector,
  name: nonEmptyText.max(MAX_NAME_CHARACTERS),
  match: z.enum(["exact", "prefix", "fuzzy"]).optional(),
  kind: nonEmptyText.max(64).optional(),
  limit: limit(20),
});
export type SymbolsQuery = z.output<typeof SymbolsQuery>;

export const SymbolsResponse = z
  .object({
    ok: z.literal(true),
    symbols: z.array(z.object({ ...SymbolShape, path: z.string(), startLine: Line, endLine: Line })),
    match: z.enum(["exact", "prefix", "fuzzy"]).describe("How the symbols match."),
    truncated: z.boolean(),
    indexes: z.array(SearchedIndex),
  })
  .meta({ id: "SymbolsResponse" });
export type SymbolsResponse = z.infer<typeof SymbolsResponse>;

export const ReferencesQuery = z.object({ ...selector, name: nonEmptyText.max(MAX_NAME_CHARACTERS), limit: limit(50) });
export type ReferencesQuery = z.output<typeof ReferencesQuery>;

export const ReferencesResponse = z
  .object({
    ok: z.literal(true),
    references: z.array(z.object({ path: z.string(), line: Line, text: z.string(), enclosing: z.string().nullable() })),
    by: z.literal("name").describe("References are found by name; what a name is bound to is not resolved."),
    truncated: z.boolean(),
    indexes: z.array(SearchedIndex),
  })
  .meta({ id: "ReferencesResponse" });
export type ReferencesResponse = z.infer<typeof ReferencesResponse>;

const path = nonEmptyText.max(MAX_PATH_CHARACTERS);

export const OutlineQuery = z.object({ ...selector, path });
export type OutlineQuery = z.output<typeof OutlineQuery>;

export const OutlineResponse = z
  .object({
    ok: z.literal(true),
    path: z.string(),
    language: z.string(),
    outline: z.array(z.object({ ...SymbolShape, startLine: Line, endLine: Line, depth: z.int().min(0) })),
    indexes: z.array(SearchedIndex),
  })
  .meta({ id: "OutlineResponse" });
export type OutlineResponse = z.infer<typeof OutlineResponse>;

export const FileQuery = z.object({ ...selector, path, start: line, end: line });
export type FileQuery = z.output<typeof FileQuery>;

export const FileResponse = z
  .object({
    ok: z.literal(true),
    path: z.string(),
    language: z.string(),
    lineCount: z.int().min(0),
    startLine: z.int().min(0),
    endLine: z.int().min(0),
    text: z.string().describe("The lines as they were indexed; blank ones are empty."),
    withheld: z
      .array(z.array(Line).length(2))
      .describe("Ranges of lines that may hold a secret; they are empty in `text`."),
    indexes: z.array(SearchedIndex),
  })
  .meta({ id: "FileResponse" });
export type FileResponse = z.infer<typeof FileResponse>;
