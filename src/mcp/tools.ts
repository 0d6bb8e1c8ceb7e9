/** The tools, once, for `codectx mcp` and for `POST /mcp`. */
import * as z from "zod";
import { text } from "../contract/text.ts";
import { visible, visibleAnswer } from "../display.ts";
import {
  fileText,
  outlineText,
  referencesText,
  reposText,
  searchText,
  type ShownSymbol,
  symbolsText,
} from "./answers.ts";
import type { CodeSource, Scope } from "./source.ts";

const DEFAULT_MAX_TOKENS = 4_000;
/** The engine's own cap; results are asked for whole and shortened here, where lines are numbered. */
const MAX_MAX_TOKENS = 32_000;
const MAX_QUERY_CHARACTERS = 32_768;
const MAX_NAME_CHARACTERS = 300;
/** Definitions whose lines are shown, and the longest that is. */
const MAX_BODIES = 3;
const MAX_BODY_LINES = 80;

const repo = text
  .min(1)
  .max(500)
  .optional()
  .describe("Repository as list_repos names it, such as github.com/owner/name. Default: all of them.");
const oneRepo = repo.describe("Repository as list_repos names it. Needed where there are several.");
const ref = text
  .min(1)
  .max(500)
  .optional()
  .describe("Branch, tag or commit that is indexed. Default: the current revision.");
const path = text.min(1).max(4_096).describe("Path from the root of the repository.");
const maxTokens = z
  .int()
  .min(200)
  .max(MAX_MAX_TOKENS)
  .default(DEFAULT_MAX_TOKENS)
  .describe("Length of the answer. What does not fit is shortened, and the answer says so.");
const limitOf = (fallback: number, max: number) => z.int().min(1).max(max).default(fallback);
const name = text.trim().min(1).max(MAX_NAME_CHARACTERS);

/** What a tool runs with. */
export interface ToolContext {
  source: CodeSource;
  nowMs: number;
}

/** A tool: its texts for the model, its parameters, and the function that answers. */
export interface Tool<Shape extends z.ZodObject = z.ZodObject> {
  /** At most 32 characters, since clients add the server's name to it. */
  name: string;
  title: string;
  /** At most 2 KB, where clients cut it. */
  description: string;
  input: Shape;
  run: (context: ToolContext, input: z.output<Shape>) => Promise<string>;
}

/** Lets `run` take the type of `input`. The server passes it what the schema has parsed. */
function tool<Shape extends z.ZodObject>(definition: Tool<Shape>): Tool {
  const { run, ...rest } = definition;
  return { ...rest, run: (context, input) => run(context, input as z.output<Shape>) };
}

function scopeOf(input: { repo?: string | undefined; ref?: string | undefined }): Scope {
  return { repo: input.repo, ref: input.ref };
}

const searchCode = tool({
  name: "search_code",
  title: "Search code",
  description:
    "Finds code by what it does, by words, identifiers or a whole issue text with stack traces. Use it first when you do not know where something is. " +
    "Returns the best places with numbered lines, the enclosing symbol and the path; the lines are current, so a file need not be read again for them. " +
    'A phrase in "double quotes" must occur literally. Tests, docs, examples and generated code rank lower unless the query asks for them.',
  input: z.object({
    query: text.trim().min(1).max(MAX_QUERY_CHARACTERS).describe("Words, identifiers, or a whole issue text."),
    repo,
    ref,
    paths: z
      .array(text.min(1))
      .max(50)
      .optional()
      .describe('Globs such as "src/**" or "!**/test/**"; a file must match one and no negated one.'),
    languages: z.array(text.min(1)).max(50).optional().describe("Language ids such as typescript, python, go."),
    kinds: z.array(text.min(1)).max(50).optional().describe("Kinds of symbol such as function, class, method."),
    include: z
      .array(z.enum(["tests", "docs", "examples", "generated"]))
      .optional()
      .describe("Kinds of file that are not to rank lower."),
    limit: limitOf(10, 50),
    max_tokens: maxTokens,
  }),
  run: async ({ source, nowMs }, input) => {
    const { query, limit, paths, languages, kinds, include } = input;
    const request = { query, limit, paths, languages, kinds, include, maxTokens: MAX_MAX_TOKENS };
    return searchText(visibleAnswer(await source.search(scopeOf(input), request)), {
      maxTokens: input.max_tokens,
      nowMs,
    });
  },
});

const findSymbol = tool({
  name: "find_symbol",
  title: "Find a definition",
  description:
    "Finds where a function, class, method, type or constant is defined, by name. The name may be qualified in any language's way (Sinatra::Base, Plug.Builder, Outer.inner). " +
    "Without an exact match it falls back to prefixes, then to similar names. Returns path, lines and signature, and for up to three short definitions their numbered lines.",
  input: z.object({
    name: name.describe("Name or qualified name."),
    repo,
    ref,
    match: z.enum(["exact", "prefix", "fuzzy"]).optional().describe("Default: the first of them that finds something."),
    kind: text.min(1).max(50).optional().describe("Kind of symbol such as function, class, method."),
    limit: limitOf(20, 100),
    max_tokens: maxTokens,
  }),
  run: async ({ source, nowMs }, input) => {
    const scope = scopeOf(input);
    const answer = await source.symbols(scope, {
      name: input.name,
      match: input.match,
      kind: input.kind,
      limit: input.limit,
    });
    const symbols = await Promise.all(
      answer.symbols.map(async (symbol, position): Promise<ShownSymbol> => {
        const { revision, path, startLine, endLine } = symbol;
        const owner = answer.indexes[revision]?.repo;
        if (position >= MAX_BODIES || endLine - startLine >= MAX_BODY_LINES || owner === undefined) return symbol;
        const file = await source.readFile({ ...scope, repo: owner }, path, startLine, endLine).catch(() => undefined);
        return file === undefined || file.withheld.length > 0 ? symbol : { ...symbol, body: file.text };
      }),
    );
    return symbolsText(visible(input.name), visibleAnswer({ ...answer, symbols }), {
      maxTokens: input.max_tokens,
      nowMs,
    });
  },
});

const findReferences = tool({
  name: "find_references",
  title: "Find uses of a name",
  description:
    "Lists the lines on which an identifier is used, with line number and enclosing symbol, in order of path; definitions are left out. " +
    "It goes by name: another symbol of the same name is included. Use it before you change or remove something.",
  input: z.object({
    name: name.describe("Identifier; of a qualified name the last part counts."),
    repo,
    ref,
    limit: limitOf(50, 500),
    max_tokens: maxTokens,
  }),
  run: async ({ source, nowMs }, input) => {
    const answer = await source.references(scopeOf(input), { name: input.name, limit: input.limit });
    return referencesText(visible(input.name), visibleAnswer(answer), { maxTokens: input.max_tokens, nowMs });
  },
});

const outline = tool({
  name: "outline",
  title: "Outline of a file",
  description:
    "Lists the symbols that a file defines, nested, with their lines and signatures: what is in a file, at a tenth of the cost of reading it.",
  input: z.object({ path, repo: oneRepo, ref, max_tokens: maxTokens }),
  run: async ({ source, nowMs }, input) =>
    outlineText(visible(input.path), visibleAnswer(await source.outline(scopeOf(input), input.path)), {
      maxTokens: input.max_tokens,
      nowMs,
    }),
});

const readFile = tool({
  name: "read_file",
  title: "Read lines of a file",
  description:
    "Shows lines of an indexed file with their numbers. Give a range where you know it: search_code, find_symbol and outline name lines. " +
    "A long file is shown as far as max_tokens goes, with the line to go on from.",
  input: z.object({
    path,
    repo: oneRepo,
    ref,
    start_line: z.int().min(1).optional().describe("First line, from 1."),
    end_line: z.int().min(1).optional().describe("Last line, inclusive."),
    max_tokens: maxTokens,
  }),
  run: async ({ source, nowMs }, input) => {
    const { path, start_line: start, end_line: end } = input;
    const file = await source.readFile(scopeOf(input), path, start, end);
    return fileText(visibleAnswer(file), { maxTokens: input.max_tokens, nowMs });
  },
});

const listRepos = tool({
  name: "list_repos",
  title: "List repositories",
  description: "Lists the repositories that are indexed, each with its commit and the age of its index.",
  input: z.object({
    query: text.max(500).optional().describe("Part of a name."),
    max_tokens: maxTokens,
  }),
  run: async ({ source, nowMs }, input) => {
    const all = await source.listRepos();
    const wanted = (input.query ?? "").trim().toLowerCase();
    const repos = all.filter((candidate) => candidate.repo.toLowerCase().includes(wanted));
    return reposText(visibleAnswer(repos), all.length, { maxTokens: input.max_tokens, nowMs });
  },
});

export const TOOLS: readonly Tool[] = [searchCode, findSymbol, findReferences, outline, readFile, listRepos];
