/** The tools, once, for `codectx mcp` and for `POST /mcp`. */
import { toolShape } from "../../contract/parameters.ts";
import { DEFINITION, SYMBOLS } from "../../contract/questions.ts";
import { text } from "../../contract/text.ts";
import { visibleAnswer } from "../../lib/display.ts";
import { InvalidFieldError, NotFoundError, question, type QuestionAnswer } from "../questions/code-index.ts";
import { files, type FilesAnswer, grep } from "../questions/exact.ts";
import { definition, file, impact, outline, references, search, symbols } from "../questions/questions.ts";
import { parsePosition } from "../questions/relations/position.ts";
import {
  fileText,
  folderText,
  outlineText,
  referencesText,
  reposText,
  searchText,
  type ShownSymbol,
  symbolsText,
} from "./answers.ts";
import { definitionText } from "./definition-answer.ts";
import { grepText } from "./grep-answer.ts";
import { impactText } from "./impact-answer.ts";
import { maxTokens, questionTool, strict, type Tool } from "./tool.ts";

/** Definitions whose lines are shown, and the longest that is. */
const MAX_BODIES = 3;
const MAX_BODY_LINES = 80;

const searchCode = questionTool({
  name: "search_code",
  title: "Search code",
  description:
    "Finds code by what it does: words, identifiers or a whole issue text with stack traces. Use it first when you do not know where something is. " +
    "Returns the best places with path, enclosing symbol and numbered lines, which are current and need not be read again. " +
    "Tests, docs, examples and generated code rank lower unless the query asks for them.",
  question: search,
  text: searchText,
});

/** `symbols`, with the lines of the first definitions that are short, read from the same indexes. */
const definitions = question({
  ...symbols,
  answer: async (indexes, request) => {
    const answer = await symbols.answer(indexes, request);
    const found = answer.symbols.map(async (symbol, position): Promise<ShownSymbol> => {
      const { revision, path, startLine, endLine } = symbol;
      if (position >= MAX_BODIES || endLine - startLine >= MAX_BODY_LINES) return symbol;
      const lines = await indexes.file(path, startLine, endLine, revision).catch(() => undefined);
      return lines === undefined || lines.withheld.length > 0 ? symbol : { ...symbol, body: lines.text };
    });
    return { ...answer, symbols: await Promise.all(found) };
  },
});

const symbolsByName = questionTool({
  name: "find_symbol",
  title: "Find a definition",
  description:
    "Finds where a function, class, method, type or constant is defined, by name; without an exact match by prefix, then by similar names. " +
    "Returns path, lines and signature, and the numbered lines of up to three short definitions. " +
    "With at instead of name, it says what the name at a position means, and how certain that is.",
  question: definitions,
  text: symbolsText,
});

const symbolsByPosition = questionTool({
  ...symbolsByName,
  question: definition,
  isOfOne: true,
  text: definitionText,
});

/** Finds definitions by name, or by the position of a name: one tool, since each takes room in every agent's context. */
const findSymbol: Tool = {
  ...symbolsByName,
  input: strict({
    ...symbolsByName.input.shape,
    name: toolShape(SYMBOLS).name.optional(),
    at: text
      .max(DEFINITION.path.max)
      .optional()
      .describe("Position instead of name: path:line:column, or path:line for all names of the line."),
  }),
  run: async (context, { at, ...input }) => {
    if (typeof at !== "string") {
      if (input["name"] === undefined) throw new InvalidFieldError("name", "is required, unless at gives a position");
      return symbolsByName.run(context, input);
    }
    for (const field of ["name", "match", "kind"])
      if (input[field] !== undefined) throw new InvalidFieldError(field, "goes without at, which names a position");
    const position = parsePosition(at);
    if (!position) throw new InvalidFieldError("at", "must be path:line or path:line:column, such as src/app.ts:10:4");
    return symbolsByPosition.run(context, { ...input, ...position });
  },
};

const findReferences = questionTool({
  name: "find_references",
  title: "Find uses of a name",
  description:
    "Lists the lines on which an identifier is used, with the enclosing symbol; definitions are left out. " +
    "It goes by name: others of that name are included. Use it before you change or remove one. " +
    "relation asks for callers, callees, implementations or importers instead, of packages' names too.",
  question: references,
  text: referencesText,
});

const grepTool = questionTool({
  name: "grep",
  title: "Find every line that matches",
  description:
    "Lists every line that matches a regular expression or text: by file, sources first, with the enclosing symbol. " +
    "Use it before you rename, delete or upgrade something, or to be sure that there are no more: it says whether all text was searched. " +
    "Lock files, generated and vendored code are searched too; paths such as !vendor/** leave them out.",
  question: grep,
  text: grepText,
});

const impactTool = questionTool({
  name: "impact",
  title: "What a change concerns",
  description:
    "Says what a change may break or need besides: give patch, paths or name. " +
    "Returns files that likely need a change or a run, best first with reasons, changed interfaces, tests that reach it, and callers with how certain each is. " +
    "Use it before you finish a change, to find what was forgotten.",
  question: impact,
  isOfOne: true,
  text: impactText,
});

/** Files and folders of a folder that are listed. */
const MAX_LISTED = 200;

/** `outline`; of a folder its files and folders instead. */
const outlineOrFolder = question({
  ...outline,
  answer: async (indexes, request): Promise<QuestionAnswer<typeof outline> | (FilesAnswer & { path: string })> => {
    try {
      return await outline.answer(indexes, request);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      const { path } = request;
      const listed = await files.answer(indexes, { path, depth: 1, limit: MAX_LISTED }).catch(() => undefined);
      if (!listed) throw error;
      return { ...listed, path };
    }
  },
});

const outlineTool = questionTool({
  name: "outline",
  title: "Outline of a file or folder",
  description:
    "Lists the symbols that a file defines, nested, with lines and signatures, at a tenth of the cost of reading it. " +
    "Of a folder (`.` is the root) it lists the files and folders.",
  question: outlineOrFolder,
  isOfOne: true,
  text: (answer, options) => ("symbols" in answer ? outlineText(answer, options) : folderText(answer, options)),
});

const readLines = questionTool({
  name: "read_file",
  title: "Read lines of a file",
  description:
    "Shows numbered lines of an indexed file. Give a range where you know it. " +
    "A long file is shown as far as max_tokens goes, with the line to go on from.",
  question: file,
  isOfOne: true,
  text: fileText,
});

/** As `FileQuery`, by the names of the tool. */
const readFile: Tool = {
  ...readLines,
  input: readLines.input.refine(
    ({ start_line: start, end_line: end }) => start === undefined || end === undefined || Number(end) >= Number(start),
    { path: ["end_line"], message: "must not be below start_line" },
  ),
};

const listRepos: Tool = {
  name: "list_repos",
  title: "List repositories",
  description: "Lists the indexed repositories, each with its commit and the age of its index.",
  input: strict({
    query: text.max(500).optional().describe("Part of a name."),
    max_tokens: maxTokens,
  }),
  run: async ({ index, nowMs }, input) => {
    const all = await index.repos();
    const { query } = input;
    const wanted = typeof query === "string" ? query.trim().toLowerCase() : "";
    const repos = all.filter(({ name }) => name.toLowerCase().includes(wanted));
    return reposText(visibleAnswer(repos), all.length, { maxTokens: Number(input["max_tokens"]), nowMs });
  },
};

export const TOOLS: readonly Tool[] = [
  searchCode,
  findSymbol,
  findReferences,
  impactTool,
  grepTool,
  outlineTool,
  readFile,
  listRepos,
];
