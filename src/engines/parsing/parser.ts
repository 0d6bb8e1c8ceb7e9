import { buildChunks, MAX_WEIGHT, TARGET_WEIGHT } from "./chunks.ts";
import { declarationOutline } from "./declarations/declarations.ts";
import { contentLanguage, languageInfo } from "./detect.ts";
import type { LoadedGrammar } from "./core.ts";
import { SyntaxEngine, workBudget } from "./engine.ts";
import type { GrammarName, GrammarSource, LanguageId } from "./languages.ts";
import { glueComments, glueLeads, layoutLevels, syntaxLevels } from "./levels.ts";
import { GRAMMAR_RULES } from "./rules/index.ts";
import { findSecrets } from "./secrets/find.ts";
import { linesOf } from "./secrets/lines.ts";
import type { SecretRange } from "./secrets/types.ts";
import { withholdSecrets } from "./secrets/withhold.ts";
import { embeddedCode } from "./components.ts";
import { readNotebook } from "./notebook.ts";
import { damagedRows, hasUnreadLines } from "./pieces.ts";
import { glueRows, parseReadable } from "./readable.ts";
import { functionsAmong, usesAroundErrors } from "./recovered-uses.ts";
import { Recovery } from "./recovery.ts";
import { SourceText } from "./source-text.ts";
import { structureOutline } from "./structure/index.ts";
import { type CompiledRules, compileRules, extractSymbols } from "./symbols.ts";
import type { DraftSymbol, FallbackReason, Outline, ParsedFile, CodeSymbol } from "./types.ts";
import type { ReadUses, UsesReader } from "./uses-reader.ts";

/** Longer lines are data (an image in a string), which a grammar may take minutes to parse; it is given only their ends. */
const MAX_PARSED_LINE = 20_000;
const PARSED_LINE_END = 1000;
/** A file with a higher share of such lines, or a higher average line length, is data or minified code. */
const LINES_PER_LONG_LINE = 10;
const MAX_MEAN_LINE = 400;
const MEAN_LINE_FROM_CHARACTERS = 20_000;
const SPACE = 32;
/** Secrets of a file that strings are compared with. */
const MAX_SECRETS_COMPARED = 50;
/** Shorter strings are names that happen to occur in a secret. */
const MIN_SECRET_PART = 8;

interface ParseInput {
  bytes: Uint8Array;
  language: LanguageId;
}

export interface CodeParser {
  /**
   * Symbols and chunks of one file. The same bytes and language give the same result everywhere.
   *
   * A file that crashes the parser's core gets plain chunks; the core is restarted for the next file.
   *
   * @throws ParserUnavailableError when the core cannot be started again (retry elsewhere), and errors of loading the grammar.
   */
  parse(input: ParseInput): Promise<ParsedFile>;
  /**
   * Loads the grammar of a file. What is returned parses the file as {@link parse} does and waits for nothing, so that the caller can end
   * it after a time. The parser is not to be used after that.
   */
  prepare(input: ParseInput): Promise<() => ParsedFile>;
}

/** What parsing a file consists of, in this order: decoding, the syntax tree, symbols and cuts, uses, further parses after errors, secrets, chunks. */
export type ParseStage = "decode" | "syntax" | "symbols" | "uses" | "recovery" | "secrets" | "chunks";

interface ParserOptions {
  /** Where files get their `uses` from; without it they have none. */
  readUses?: UsesReader | undefined;
  /** Called at the end of each stage of a file, for measurements. */
  onStage?: (stage: ParseStage) => void;
}

/**
 * Creates a parser; grammars are loaded on first use. It holds 34 to 72 MiB, which a Worker cannot release before its
 * isolate ends: create one and reuse it.
 */
export async function createParser(
  source: GrammarSource,
  { readUses, onStage = () => {} }: ParserOptions = {},
): Promise<CodeParser> {
  const engine = await SyntaxEngine.create(source);
  const compiled = new Map<GrammarName, CompiledRules>();
  const prepare = async ({ bytes, language: named }: ParseInput): Promise<() => ParsedFile> => {
    const language = contentLanguage(named, bytes);
    const { mode, grammar: name } = languageInfo(language);
    const grammar = name && (await engine.grammar(name));
    return () => {
      const outcome = mode === "declarations" ? "structure" : mode;
      const text = new SourceText(bytes);
      onStage("decode");
      if (mode === "plain" || text.lineCount === 0) return finish(text, plainOutline(text), { outcome }, onStage);
      if (mode !== "syntax") {
        const outline = mode === "structure" ? structureOutline(language, text) : declarationOutline(language, text);
        return finish(text, outline, { outcome }, onStage);
      }
      const notebook = language === "notebook" ? readNotebook(text) : undefined;
      if (language === "notebook" && !notebook?.code) {
        const plain = plainOutline(text);
        return finish(text, notebook?.complete(plain) ?? plain, { outcome: "plain" }, onStage);
      }
      const outline = grammar
        ? syntaxOutline(engine, grammar, compiled, language, notebook?.code ?? text, { readUses, onStage })
        : "no-grammar";
      const result = typeof outline === "string" || !notebook ? outline : notebook.complete(outline);
      if (typeof result === "string")
        return finish(text, plainOutline(text), { outcome: "fallback", fallbackReason: result }, onStage);
      return finish(text, result, { outcome: result.isPartial ? "partial" : "syntax" }, onStage);
    };
  };
  return { prepare, parse: async (input) => (await prepare(input))() };
}

function syntaxOutline(
  engine: SyntaxEngine,
  grammar: LoadedGrammar,
  compiledRules: Map<GrammarName, CompiledRules>,
  language: LanguageId,
  source: SourceText,
  { readUses, onStage }: Pick<ParserOptions, "readUses"> & Required<Pick<ParserOptions, "onStage">>,
): Outline | FallbackReason {
  const { name } = grammar;
  const embedded = embeddedCode(language, source);
  if (embedded === "none") return "no-grammar";
  const parts = embedded === "whole" ? undefined : embedded;
  const compiled = compiledRules.get(name) ?? compileRules(GRAMMAR_RULES[name], grammar);
  compiledRules.set(name, compiled);
  const whole = parts?.units ?? source.codeUnits();
  // The long lines of a notebook are outputs, which are blank here.
  if (!clipLongLines(source, whole) && language !== "notebook") return "long-lines";
  const budget = workBudget(whole.length);
  const parse = (text: Uint16Array) => engine.parse(text, source.text, grammar, budget);
  try {
    const bare = parseReadable(language, source, whole, parse);
    const { parsed, units } = bare;
    onStage("syntax");
    if (!parsed.ok) return parsed.reason;
    const { tree } = parsed;
    const { symbols: found, comments } = extractSymbols(tree, source, compiled, bare.attributes);
    const symbols = parts?.withOwn(found) ?? found;
    const levels = parts?.levels(tree.root) ?? syntaxLevels(tree.root, source, MAX_WEIGHT, TARGET_WEIGHT);
    glueComments(levels, comments, source);
    glueRows(levels, bare.glued);
    const damaged = damagedRows(tree, source);
    const hasErrors = tree.root.hasError;
    onStage("symbols");
    const uses = readUses?.(tree.root, language);
    const addMarkup = (read: ReadUses | undefined): void => {
      const markup = read && parts?.markup?.();
      const statements = markup && clipLongLines(source, markup.units) ? parse(markup.units) : undefined;
      if (read && markup && statements?.ok === true) read.addMarkup(statements.tree.root, markup.names);
    };
    onStage("uses");
    if (damaged.length === 0) {
      glueLeads(levels, symbols);
      addMarkup(uses);
      onStage("uses");
      return { symbols, levels, hasErrors, uses };
    }
    const isUnread = hasUnreadLines(tree, source, { from: 0, to: source.lineCount - 1 });
    const recovery = new Recovery(engine, grammar, compiled, source, budget);
    const { withoutMacros, bodies, ...recovered } = recovery.recover(name, units, symbols, damaged);
    glueLeads(levels, recovered.symbols);
    onStage("recovery");
    const isClearer = withoutMacros !== undefined && (isUnread || withoutMacros.changesDeclarations);
    const again = isClearer ? parse(withoutMacros.units) : undefined;
    const clearer = again?.ok === true ? readUses?.(again.tree.root, language) : undefined;
    const read = clearer ?? uses;
    const text = { source, units: clearer && withoutMacros ? withoutMacros.units : units, bodies };
    const allUses =
      read && readUses && isUnread
        ? usesAroundErrors(text, read, { engine, grammar, budget, language, readUses })
        : read;
    allUses?.addFunctions(() => functionsAmong(recovered.symbols, source));
    addMarkup(allUses);
    onStage("uses");
    return { ...recovered, levels, hasErrors, uses: allUses };
  } catch (error) {
    return engine.recover(error);
  }
}

/** Blanks the middle of very long lines; false if the file consists of long lines. */
function clipLongLines(source: SourceText, units: Uint16Array): boolean {
  let characters = units.length;
  let longLines = 0;
  for (let row = 0; row < source.lineCount && source.longestLine > MAX_PARSED_LINE; row++) {
    const start = source.lineStarts[row]!;
    const end = source.contentEnd(row);
    if (end - start <= MAX_PARSED_LINE) continue;
    units.fill(SPACE, start + PARSED_LINE_END, end - PARSED_LINE_END);
    characters -= end - start;
    longLines++;
  }
  if (longLines * LINES_PER_LONG_LINE > source.lineCount) return false;
  return characters <= MEAN_LINE_FROM_CHARACTERS || characters / source.lineCount <= MAX_MEAN_LINE;
}

function plainOutline(source: SourceText): Outline {
  return { symbols: [], levels: layoutLevels(source), hasErrors: false };
}

function finish(
  source: SourceText,
  outline: Outline,
  outcome: Pick<ParsedFile, "outcome" | "fallbackReason">,
  onStage: (stage: ParseStage) => void,
): ParsedFile {
  onStage("symbols");
  const secrets = findSecrets(source.text);
  withholdSecrets(outline.symbols, source, secrets);
  onStage("secrets");
  const parsed = {
    text: source.text,
    encoding: source.encoding,
    lineCount: source.lineCount,
    symbols: outline.symbols.map((symbol) => toRecord(symbol, source)),
    chunks: buildChunks(source, outline, secrets),
    withheldLines: linesOf(source.text, secrets),
    uses: outline.uses && usesRecord(outline.uses, source.text, secrets),
    hasErrors: outline.hasErrors,
    ...outcome,
  };
  onStage("chunks");
  return parsed;
}

/**
 * The record of the uses, without strings that are part of a secret or contain one, such as the address of a module with a password. None
 * of a file with many secrets: comparing takes the product of both numbers.
 */
function usesRecord(
  uses: NonNullable<Outline["uses"]>,
  text: string,
  secrets: readonly SecretRange[],
): Uint8Array | undefined {
  if (secrets.length > MAX_SECRETS_COMPARED) return undefined;
  const hidden = secrets.map(({ start, end }) => text.slice(start, end));
  const isPart = (string: string, secret: string) => string.length >= MIN_SECRET_PART && secret.includes(string);
  return uses.record((string) => hidden.some((secret) => isPart(string, secret) || string.includes(secret)));
}

function toRecord(symbol: DraftSymbol, source: SourceText): CodeSymbol {
  return {
    kind: symbol.kind,
    name: symbol.name,
    qualifiedName: symbol.qualifiedName,
    signature: symbol.signature,
    doc: symbol.doc,
    parent: symbol.parent,
    startLine: source.rowAt(symbol.nameStart) + 1,
    endLine: symbol.endRow + 1,
    startByte: source.byteAt(symbol.start),
    endByte: source.byteAt(symbol.end),
  };
}
