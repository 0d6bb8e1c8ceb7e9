/** Requests and answers of `/search`, `/symbols`, `/definition`, `/outline` and `/file`. */
import * as z from "zod";
import { bodyShape, queryShape } from "./parameters.ts";
import { CERTAINTIES, DEFINITION, FILE, OUTLINE, type Request, SEARCH, SYMBOLS } from "./questions.ts";
import { Line, Owner } from "./shapes.ts";
import { nonEmptyText, repoText, text } from "./text.ts";

/** Selects one workspace and one of its revisions. Without `repo` and `workspaceId`, all workspaces of the tenant are asked. */
export const selector = {
  repo: repoText.optional().describe("Repository identity, such as `github.com/owner/name`."),
  workspaceId: text.max(100).optional().describe("UUID of the workspace."),
  ref: nonEmptyText
    .max(500)
    .optional()
    .describe("Indexed branch, tag or full commit; without it the current revision."),
  overlay: text.max(100).optional().describe("Edits on top of a revision, from `POST /overlays`; instead of `ref`."),
};

export type Selection = { [N in keyof typeof selector]?: string | undefined };

export const SearchRequest = z.object({ ...selector, ...bodyShape(SEARCH) }).meta({ id: "SearchRequest" });
export type SearchRequest = Selection & Request<typeof SEARCH>;

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

/** An index that an answer leaves out. */
export const LeftOutIndex = z.object({ repo: z.string().nullable(), workspaceId: z.uuid() });
export type LeftOutIndex = z.infer<typeof LeftOutIndex>;

export const SearchResult = z
  .object({
    ...Owner,
    gitSha: z.string(),
    path: z.string(),
    language: z.string(),
    startLine: Line.describe("First line of the best place."),
    endLine: Line,
    symbol: z.object(SymbolShape).nullable(),
    score: z.number(),
    excerpts: z
      .array(
        z.object({
          startLine: Line,
          endLine: Line,
          text: z.string().describe("Whole lines, exactly as the file has them, joined by line feeds."),
          symbol: z.string().optional().describe("Qualified name of the innermost symbol that contains the lines."),
        }),
      )
      .describe("What is shown of the file, in order of line; none where it is only listed."),
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
    understood: z
      .array(
        z.object({
          word: z.string().describe("As written in the query."),
          as: z.string().describe("What was searched for it: one word, or several with spaces between."),
        }),
      )
      .optional()
      .describe(
        "Words of the query that are misspelt or not in English, and what they were taken for. Absent if the query was taken as written.",
      ),
    weak: z
      .object({
        unknown: z.array(z.string()).describe("Words of the query that are nowhere in the index."),
        files: z.int().describe("Files searched."),
      })
      .optional()
      .describe("Set if nothing matches well: the results only come nearest, and have no excerpts."),
    indexes: z.array(SearchedIndex),
    total: z.int().min(0).describe("Files found, of which `results` are the first."),
    truncated: z.boolean(),
    tokens: z.int().describe("Tokens of the results as text: a line for each, and the numbered lines of its excerpts."),
    degraded: z
      .enum(["embedding", "rerank"])
      .optional()
      .describe("The provider that failed: the answer is ranked without it."),
    leftOut: z
      .array(LeftOutIndex)
      .optional()
      .describe(
        "Workspaces that were not searched, in a search over all: their index is being rewritten for this version of the service. Ask again in ten seconds.",
      ),
    usage: z.object({ credits: z.int() }).optional().describe("Credits charged for reranking."),
  })
  .meta({ id: "SearchResponse" });
export type SearchResponse = z.infer<typeof SearchResponse>;

export const SymbolsQuery = z.object({ ...selector, ...queryShape(SYMBOLS) });
export type SymbolsQuery = Selection & Request<typeof SYMBOLS>;

export const SymbolsResponse = z
  .object({
    ok: z.literal(true),
    symbols: z.array(
      z.object({ ...Owner, ...SymbolShape, path: z.string(), language: z.string(), startLine: Line, endLine: Line }),
    ),
    match: z.enum(["exact", "prefix", "fuzzy"]).describe("How the symbols match."),
    total: z.int().min(0).describe("Definitions found, of which `symbols` are the first."),
    tooLarge: z
      .object({ files: z.int().min(1), paths: z.array(z.string()).describe("The first of them.") })
      .optional()
      .describe(
        "Files that are too large to be indexed and may define the name, if it is not found exactly; `POST /grep` searches them.",
      ),
    truncated: z.boolean(),
    indexes: z.array(SearchedIndex),
  })
  .meta({ id: "SymbolsResponse" });
export type SymbolsResponse = z.infer<typeof SymbolsResponse>;

export const DefinitionQuery = z.object({ ...selector, ...queryShape(DEFINITION) });
export type DefinitionQuery = Selection & Request<typeof DEFINITION>;

export const DefinitionResponse = z
  .object({
    ok: z.literal(true),
    names: z.array(z.string()).describe("The names that were looked up."),
    definitions: z
      .array(
        z.object({
          ...Owner,
          ...SymbolShape,
          path: z.string(),
          language: z.string(),
          startLine: Line,
          endLine: Line,
          certainty: z.enum(CERTAINTIES).describe("How sure it is that the name means this definition."),
        }),
      )
      .describe("The surest first."),
    outside: z
      .array(z.string())
      .optional()
      .describe("Packages that the names are imported from, where they lead to no definition."),
    truncated: z.boolean().describe("There are more, or not all files could be read."),
    indexes: z.array(SearchedIndex),
  })
  .meta({ id: "DefinitionResponse" });
export type DefinitionResponse = z.infer<typeof DefinitionResponse>;

export const OutlineQuery = z.object({ ...selector, ...queryShape(OUTLINE) });
export type OutlineQuery = Selection & Request<typeof OUTLINE>;

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

export const FileQuery = z
  .object({ ...selector, ...queryShape(FILE) })
  .refine(({ start, end }) => start === undefined || end === undefined || end >= start, {
    path: ["end"],
    message: "must not be below start",
  });
export type FileQuery = Selection & Request<typeof FILE>;

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
