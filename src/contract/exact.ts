/** Requests and answers of `/grep`, `/coverage` and `/files`. */
import * as z from "zod";
import { bodyShape, queryShape } from "./parameters.ts";
import { COVERAGE, FILES, GREP, type Request } from "./questions.ts";
import { SearchedIndex, type Selection, selector } from "./search.ts";

const Count = z.int().min(0);
const Line = z.int().min(1);
const notSearched = z.record(z.string(), Count).describe("Files that were not searched, by reason.");

const Owner = { repo: z.string().nullable(), workspaceId: z.uuid() };

export const GrepRequest = z.object({ ...selector, ...bodyShape(GREP) }).meta({ id: "GrepRequest" });
export type GrepRequest = Selection & Request<typeof GREP>;

const GrepMatch = z
  .object({
    repo: z.string().nullable(),
    workspaceId: z.uuid(),
    gitSha: z.string(),
    path: z.string(),
    line: Line,
    endLine: Line.optional().describe("Last line of a match over several lines."),
    ranges: z
      .array(z.array(Line).length(2))
      .describe("Columns of the matches in the line, from 1, in UTF-16 units; the second is exclusive."),
    text: z.string().describe("The line without its line end; of a long one the part around the first match."),
    textStart: Line.optional().describe("Column at which `text` begins, where it is a part of the line."),
    before: z.array(z.string()),
    after: z.array(z.string()),
    enclosing: z.string().nullable().describe("Qualified name of the innermost symbol around the line."),
  })
  .meta({ id: "GrepMatch" });
type GrepMatch = z.infer<typeof GrepMatch>;

export const GrepResponse = z
  .object({
    ok: z.literal(true),
    matches: z.array(GrepMatch),
    files: z
      .array(z.object({ repo: z.string().nullable(), workspaceId: z.uuid(), path: z.string(), lines: Count }))
      .optional()
      .describe("Files with matches, where `filesOnly` or `count` asks for them."),
    total: z.object({ lines: Count, files: Count }).describe("All matching lines and files; exact where `complete`."),
    complete: z.boolean().describe("Whether all text was searched: then a line that is not found does not exist."),
    coverage: z.object({
      files: Count.describe("Files that were searched."),
      bytes: Count.describe("Their size."),
      notSearched,
      withheldLines: Count.describe("Lines that may hold a secret. They are neither searched nor shown."),
    }),
    gaps: z
      .array(z.object({ ...Owner, path: z.string(), reason: z.string() }))
      .optional()
      .describe("The first files whose absence makes the answer incomplete."),
    withheldIn: z
      .array(z.object({ ...Owner, path: z.string(), lines: Count }))
      .optional()
      .describe("The first files with withheld lines, and how many each has. Does not depend on the pattern."),
    indexes: z.array(SearchedIndex),
    truncated: z.boolean().describe("There are more lines or files than the answer holds."),
  })
  .meta({ id: "GrepResponse" });
export type GrepResponse = z.infer<typeof GrepResponse>;

/** `indexed`: ranked and searched. `searched`: its text is searched, and ranking leaves it out for `reason`. */
const FileState = z.enum(["indexed", "searched", "not_searched", "absent"]);

export const CoverageQuery = z.object({ ...selector, ...queryShape(COVERAGE) });
export type CoverageQuery = Selection & Request<typeof COVERAGE>;

export const CoverageResponse = z
  .object({
    ok: z.literal(true),
    indexed: Count,
    searchedOnly: Count.describe("Files whose text is searched, and which are not ranked."),
    notSearched,
    path: z
      .object({ state: FileState, reason: z.string().optional() })
      .optional()
      .describe("State of the path that was asked for."),
    paths: z
      .array(z.object({ path: z.string(), state: FileState, reason: z.string().optional() }))
      .describe("Files that are not indexed and searched, in order of path."),
    truncated: z.boolean(),
    next: z.string().optional().describe("`cursor` of the next page."),
    indexes: z.array(SearchedIndex),
  })
  .meta({ id: "CoverageResponse" });
export type CoverageResponse = z.infer<typeof CoverageResponse>;

export const FilesQuery = z.object({ ...selector, ...queryShape(FILES) });
export type FilesQuery = Selection & Request<typeof FILES>;

export const FilesResponse = z
  .object({
    ok: z.literal(true),
    files: z.array(
      z.object({
        path: z.string(),
        size: Count.nullable().describe("Bytes; null where they are not known."),
        language: z.string().nullable(),
        state: FileState,
      }),
    ),
    folders: z.array(z.object({ path: z.string(), files: Count })).describe("Folders below `depth`, with their files."),
    next: z.string().optional().describe("`cursor` of the next page."),
    indexes: z.array(SearchedIndex),
  })
  .meta({ id: "FilesResponse" });
export type FilesResponse = z.infer<typeof FilesResponse>;
