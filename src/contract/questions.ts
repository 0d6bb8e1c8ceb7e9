/**
 * The questions that can be asked of an index: their parameters with bounds, defaults and descriptions. HTTP, MCP, the command line
 * and the documentation take them from here. Plain data, because the command line reads it at every start and loading zod takes 25 ms;
 * `parameters.ts` makes the schemas.
 */

export const INCLUDE_KINDS = ["tests", "docs", "examples", "generated"] as const;

interface Described {
  description: string;
  /** A question without it is refused. On the command line it is an argument. */
  required?: true;
  /** On the command line it is an argument although it may be left out. The others are options. */
  argument?: true;
  /** Name of the MCP tool's parameter; the name in snake case if absent. */
  tool?: string;
  /** Name of the command line's option; the name in kebab case if absent. */
  option?: string;
  /** Letter of the command line's short option. */
  letter?: string;
  /** Faces that do not take the parameter. */
  notOn?: readonly ("tool" | "cli")[];
}

/** A parameter. Lengths are in UTF-16 units; bounds are inclusive. */
export type Parameter = Described &
  // White space around it is removed, unless it is verbatim.
  // `toolMax` is the bound for tools, whose requests are smaller.
  (
    | { type: "text"; max: number; toolMax?: number; isVerbatim?: true }
    | { type: "texts"; max: number; maxItems: number }
    | { type: "choice"; values: readonly string[] }
    | { type: "choices"; values: readonly string[] }
    | { type: "number"; min: number; max: number; default?: number }
    | { type: "flag" }
  );

export type Parameters = Readonly<Record<string, Parameter>>;

type ValueOf<P extends Parameter> = P extends { type: "text" }
  ? string
  : P extends { type: "texts" }
    ? readonly string[]
    : P extends { type: "choice"; values: readonly (infer V)[] }
      ? V
      : P extends { type: "choices"; values: readonly (infer V)[] }
        ? readonly V[]
        : P extends { type: "number" }
          ? number
          : boolean;

type RequiredNames<P extends Parameters> = { [N in keyof P]: P[N] extends { required: true } ? N : never }[keyof P];
type DefaultedNames<P extends Parameters> = { [N in keyof P]: P[N] extends { default: number } ? N : never }[keyof P];

/** What a caller gives: everything optional but what is required. */
export type Asked<P extends Parameters> = { [N in RequiredNames<P>]: ValueOf<P[N]> } & {
  [N in Exclude<keyof P, RequiredNames<P>>]?: ValueOf<P[N]> | undefined;
};

/** What a question gets: `Asked` with the defaults filled in. */
export type Request<P extends Parameters> = Asked<P> & { [N in DefaultedNames<P>]: ValueOf<P[N]> };

const MAX_LOOKUP_RESULTS = 500;
/** Beyond the last line of every file that is indexed. */
const MAX_LINE = 1_000_000_000;

const name = (description: string) => ({ type: "text", max: 300, required: true, description }) as const;
const path = {
  type: "text",
  max: 4_096,
  isVerbatim: true,
  required: true,
  description: "Path from the root of the repository.",
} as const;

export const SEARCH = {
  query: {
    type: "text",
    max: 32_768,
    required: true,
    description:
      'Words, identifiers or a whole issue text. `"quoted"` must occur literally; `path:GLOB` and `lang:ID` filter.',
  },
  limit: { type: "number", min: 1, max: 50, default: 10, description: "Results at most, one a file." },
  offset: {
    type: "number",
    min: 0,
    max: 1_000,
    default: 0,
    description: "Results to skip, to page through them.",
  },
  paths: {
    type: "texts",
    max: 500,
    maxItems: 50,
    option: "path",
    description: "Globs: `src/**` includes, `!**/test/**` excludes.",
  },
  languages: {
    type: "texts",
    max: 64,
    maxItems: 50,
    option: "language",
    description: "Language ids such as `typescript`, `python`.",
  },
  kinds: {
    type: "texts",
    max: 64,
    maxItems: 50,
    option: "kind",
    description: "Symbol kinds that a result must lie in or define, such as `function`, `class`.",
  },
  maxTokens: {
    type: "number",
    min: 200,
    max: 32_000,
    default: 2_000,
    description:
      "Budget of the answer as text, in tokens of four characters: a line for each result, and the lines shown.",
  },
  include: {
    type: "choices",
    values: INCLUDE_KINDS,
    description: "Kinds of file that are not to rank lower than the rest.",
  },
  rerank: {
    type: "flag",
    notOn: ["tool", "cli"],
    description: "Let the reranker order the best results. Costs credits.",
  },
} as const satisfies Parameters;

export const SYMBOLS = {
  name: name("Name, which may be qualified in any language's way: `Sinatra::Base`, `Outer.inner`."),
  match: {
    type: "choice",
    values: ["exact", "prefix", "fuzzy"],
    description: "How names are compared. Default: the first that finds something.",
  },
  kind: { type: "text", max: 64, description: "Kind of symbol, such as `function`, `class`." },
  limit: { type: "number", min: 1, max: MAX_LOOKUP_RESULTS, default: 20, description: "Definitions at most." },
} as const satisfies Parameters;

/** How sure it is that a use means a definition: by the language's rules, as one of a few candidates, or by the name alone. */
export const CERTAINTIES = ["certain", "likely", "name"] as const;

export const RELATIONS = ["callers", "callees", "implementations", "importers"] as const;

export const REFERENCES = {
  name: {
    type: "text",
    max: 300,
    argument: true,
    description: "Identifier; of a qualified name the last part counts. Required except for `importers`.",
  },
  relation: {
    type: "choice",
    values: RELATIONS,
    notOn: ["cli"],
    description:
      "Calls of the name (`callers`), calls in its definition (`callees`), what implements or overrides it (`implementations`), or imports of `path` (`importers`). Each has a certainty: `certain` by the language's rules, `likely`, or `name`: only the name is the same. Default: all lines with the name.",
  },
  path: {
    type: "text",
    max: 4_096,
    isVerbatim: true,
    notOn: ["cli"],
    description:
      "With `relation`: path of the definition that is meant, where several share the name; for `importers` the imported file, folder or package.",
  },
  line: {
    type: "number",
    min: 1,
    max: MAX_LINE,
    notOn: ["cli"],
    description: "With `relation`: a line of the definition that is meant.",
  },
  certainty: {
    type: "choice",
    values: CERTAINTIES,
    notOn: ["cli"],
    description: "With `relation`: the least certain uses to list. Default: all.",
  },
  depth: {
    type: "number",
    min: 1,
    max: 5,
    notOn: ["cli"],
    description: "With `relation`: steps to follow. Default: 1, direct ones; of `importers` only these are known.",
  },
  limit: { type: "number", min: 1, max: MAX_LOOKUP_RESULTS, default: 50, description: "Lines at most." },
} as const satisfies Parameters;

export const DEFINITION = {
  path,
  line: {
    type: "number",
    min: 1,
    max: MAX_LINE,
    required: true,
    notOn: ["cli"],
    description: "Line of the name, from 1.",
  },
  column: {
    type: "number",
    min: 1,
    max: MAX_LINE,
    notOn: ["cli"],
    description:
      "Column of the name, from 1, in UTF-16 units. Without it, all names that the line calls or defines are looked up.",
  },
} as const satisfies Parameters;

export const CALL_PATH = {
  from: name("Name of the definition where the calls begin, qualified in any language's way."),
  to: name("Name of the definition that they are to reach."),
  limit: {
    type: "number",
    min: 1,
    max: 20,
    default: 5,
    description: "Paths at most: one for each definition of `to`.",
  },
} as const satisfies Parameters;

const MAX_IMPACT_PATHS = 100;

export const IMPACT = {
  name: {
    type: "text",
    max: 300,
    description: "Definition that is to change, or package.",
  },
  paths: {
    type: "texts",
    max: path.max,
    maxItems: MAX_IMPACT_PATHS,
    option: "path",
    description: "Files or folders that are to change, from the root of the repository.",
  },
  patch: {
    type: "text",
    max: 1_048_576,
    toolMax: 200_000,
    isVerbatim: true,
    notOn: ["cli"],
    description: "The change as a unified diff.",
  },
  depth: {
    type: "number",
    min: 1,
    max: 5,
    default: 2,
    description: "Calls that are followed from what changes.",
  },
  limit: { type: "number", min: 1, max: 100, default: 20, description: "Entries of each list at most." },
  maxTokens: {
    type: "number",
    min: 200,
    max: 32_000,
    default: 4_000,
    description: "Budget of all lists together, in tokens of four characters; files come first.",
  },
} as const satisfies Parameters;

export const OUTLINE = { path } as const satisfies Parameters;

export const FILE = {
  path,
  start: {
    type: "number",
    min: 1,
    max: MAX_LINE,
    tool: "start_line",
    notOn: ["cli"],
    description: "First line, from 1.",
  },
  end: {
    type: "number",
    min: 1,
    max: MAX_LINE,
    tool: "end_line",
    notOn: ["cli"],
    description: "Last line, inclusive.",
  },
} as const satisfies Parameters;

const paths = SEARCH.paths;
const languages = SEARCH.languages;

/** Bounds of `grep`, which the command line exceeds where it prints all lines. */
export const GREP = {
  pattern: {
    type: "text",
    max: 4_096,
    isVerbatim: true,
    required: true,
    description: "Regular expression as ripgrep takes it (Rust's `regex`): no look-around, no back-references.",
  },
  fixedStrings: { type: "flag", letter: "F", description: "Take the pattern literally." },
  ignoreCase: { type: "flag", letter: "i", description: "Disregard case." },
  wordRegexp: { type: "flag", letter: "w", description: "Match whole words only." },
  multiline: { type: "flag", letter: "U", description: "Let a match reach over several lines." },
  paths: { ...paths, letter: "g" },
  languages: { ...languages, letter: "t" },
  include: {
    type: "choices",
    values: INCLUDE_KINDS,
    description: "Kinds of file that are not to be listed after the sources.",
  },
  context: {
    type: "number",
    min: 0,
    max: 10,
    default: 0,
    letter: "C",
    description: "Lines shown before and after each match.",
  },
  limit: { type: "number", min: 1, max: 1_000, default: 100, notOn: ["cli"], description: "Matching lines at most." },
  offset: {
    type: "number",
    min: 0,
    max: 1_000_000,
    default: 0,
    notOn: ["cli"],
    description: "Matching lines to skip, or files where only those are listed.",
  },
  filesOnly: {
    type: "flag",
    option: "files-with-matches",
    letter: "l",
    description: "List files instead of lines.",
  },
  count: { type: "flag", letter: "c", description: "Count the matching lines of each file." },
  maxTokens: {
    type: "number",
    min: 200,
    max: 32_000,
    notOn: ["cli"],
    description: "Budget of all lines together, in tokens of four characters; without it only `limit` holds.",
  },
} as const satisfies Parameters;

const optionalPath = {
  type: "text",
  max: path.max,
  isVerbatim: true,
  argument: true,
} as const;

export const COVERAGE = {
  path: { ...optionalPath, description: "Path whose state is asked for; a folder lists what it holds." },
  reason: {
    type: "text",
    max: 64,
    description: "List the files with this reason only, such as `too_large`, `excluded`, `generated`.",
  },
  limit: { type: "number", min: 1, max: 1_000, default: 100, description: "Listed paths at most." },
  cursor: { type: "text", max: 5_000, isVerbatim: true, description: "`next` of the answer before." },
} as const satisfies Parameters;

export const FILES = {
  path: { ...optionalPath, description: "Folder, or a glob such as `src/**/*.ts`; without it the root." },
  depth: {
    type: "number",
    min: 1,
    max: 100,
    description:
      "Levels of folders that are listed file by file; deeper ones are folders with a count. All without it.",
  },
  limit: { type: "number", min: 1, max: 1_000, default: 200, description: "Files and folders at most." },
  cursor: { type: "text", max: 5_000, isVerbatim: true, description: "`next` of the answer before." },
} as const satisfies Parameters;
