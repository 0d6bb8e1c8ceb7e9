import { MAX_WEIGHT, TARGET_WEIGHT } from "./chunks.ts";
import type { LanguageId } from "./languages.ts";
import { phpOf } from "./blade.ts";
import { rubyOf } from "./erb.ts";
import { rubyOfLines } from "./haml.ts";
import { layoutLevels, MAX_SYNTAX_LEVEL, syntaxLevels } from "./levels.ts";
import { foldSignature } from "./prose.ts";
import { formatMacro } from "./skeleton.ts";
import { type ComponentLanguage, isComponentLanguage } from "./component-names.ts";
import { asStatements, readMarkup, type Span } from "./markup.ts";
import { razorOf } from "./razor.ts";
import type { SourceText } from "./source-text.ts";
import { NEWLINE, SPACE } from "./statements.ts";
import type { SyntaxNode } from "./syntax-node.ts";
import type { DraftSymbol } from "./types.ts";
import { blankValues, type GrammarRule, readGrammar } from "./yacc.ts";

/** The code in a file of which the language's grammar reads only parts. */
interface EmbeddedCode {
  /** The file with everything except its code blanked; offsets and rows are unchanged. */
  units: Uint16Array;
  /** The code in the markup of a component, as a script of its own, and names that may mean something else there than in the scripts. */
  markup?: () => { units: Uint16Array; names: ReadonlySet<string> } | undefined;
  /** Cut levels: from the tree for code, from the layout for the rest. */
  levels(root: SyntaxNode): Uint8Array;
  /** The symbols of the code with those of the rest, in order. */
  withOwn(symbols: readonly DraftSymbol[]): DraftSymbol[];
}

/** What reads the code of a template, by its language. */
const TEMPLATES: Readonly<Partial<Record<LanguageId, (text: string, units: Uint16Array) => Uint16Array>>> = {
  erb: rubyOf,
  haml: (text, units) => rubyOfLines(text, units, "haml"),
  slim: (text, units) => rubyOfLines(text, units, "slim"),
  blade: phpOf,
};

/**
 * The code in a component of Vue, Svelte or Astro, or in a grammar of Yacc or Lex. `whole`: the file is code as a whole. `none`: it has no code that the
 * language's grammar reads, as a grammar with actions in another language than C.
 */
export function embeddedCode(language: LanguageId, source: SourceText): EmbeddedCode | "whole" | "none" {
  if (isComponentLanguage(language)) return component(language, source);
  const template = TEMPLATES[language];
  if (template) {
    const units = template(source.text, source.codeUnits());
    return { units, levels: () => layoutLevels(source), withOwn: (symbols) => [...symbols] };
  }
  if (language === "razor") return razor(source);
  if (language !== "yacc" && language !== "lex") return "whole";
  const grammar = readGrammar(source.text, language);
  if (!grammar) return "none";
  const code = embedded(source, grammar.code, grammar.rules, 0);
  blankValues(source.text, grammar.code, code.units);
  for (let row = 0; row < source.lineCount; row++) {
    // Recovery goes by whole lines of code, which those of a grammar are not.
    const { index, macro } = formatMacro(source.line(row)) ?? { index: 0, macro: "" };
    code.units.fill(SPACE, source.lineStarts[row]! + index, source.lineStarts[row]! + index + macro.length);
  }
  return code;
}

function component(language: ComponentLanguage, source: SourceText): EmbeddedCode {
  const { text } = source;
  const scripts = [...(language === "astro" ? frontmatterOf(text) : []), ...blocksOf(text, "script")];
  return {
    // Lines of scripts are nested in their block: a level below the block's own edges.
    ...embedded(source, scripts, [], 2),
    markup() {
      const blocks = [...scripts, ...blocksOf(text, "style")].toSorted((a, b) => a.start - b.start);
      const { code, names } = readMarkup(language, text, blocks);
      return code.length === 0 ? undefined : { units: asStatements(source.codeUnits(), code), names };
    },
  };
}

function razor(source: SourceText): EmbeddedCode {
  const { members, markup, blocks } = razorOf(source.text, source.codeUnits());
  return {
    ...embedded(source, blocks, [], 1),
    units: members,
    markup: () => ({ units: markup, names: new Set() }),
  };
}

function embedded(
  source: SourceText,
  spans: readonly { start: number; end: number }[],
  rules: readonly GrammarRule[],
  nesting: number,
): EmbeddedCode {
  const units = source.codeUnits();
  let from = 0;
  for (const { start, end } of [...spans, { start: units.length, end: units.length }]) {
    for (let at = from; at < start; at++) if (units[at] !== NEWLINE) units[at] = SPACE;
    from = end;
  }
  return {
    units,
    levels(root) {
      const levels = layoutLevels(source);
      const syntax = syntaxLevels(root, source, MAX_WEIGHT, TARGET_WEIGHT);
      for (const { start, end } of spans) {
        const first = source.rowAt(start) + 1;
        const last = source.rowAt(end);
        for (let row = first; row <= last; row++) {
          const level = syntax[row]!;
          if (!source.isBlank(row)) levels[row] = Math.min(level + nesting, Math.max(level, MAX_SYNTAX_LEVEL));
        }
      }
      return levels;
    },
    withOwn: (symbols) =>
      rules.length === 0 ? [...symbols] : mergeSymbols(symbols, rules.slice(0, MAX_RULES).map(ruleSymbol(source))),
  };
}

/** Rules of a grammar that are symbols. */
const MAX_RULES = 5000;

const ruleSymbol =
  (source: SourceText) =>
  ({ name, start, end }: GrammarRule): DraftSymbol => {
    const startRow = source.rowAt(start);
    return {
      kind: "rule",
      name,
      qualifiedName: name,
      signature: foldSignature(source.line(startRow)),
      doc: null,
      parent: null,
      start,
      end,
      startRow,
      nameStart: start,
      endRow: source.rowAt(Math.max(end - 1, start)),
      leadRow: startRow,
    };
  };

/** Two lists of symbols as one, in order. Those of the second have no parents. */
export function mergeSymbols(symbols: readonly DraftSymbol[], others: readonly DraftSymbol[]): DraftSymbol[] {
  const all = [...symbols, ...others].toSorted((a, b) => a.start - b.start);
  const places = new Map(all.map((symbol, place) => [symbol, place]));
  const placeOf = (index: number) => places.get(symbols[index] as DraftSymbol) ?? null;
  return all.map((each) => (each.parent === null ? each : Object.assign({}, each, { parent: placeOf(each.parent) })));
}

/** The script at the top of an Astro component, between two lines of dashes. */
function frontmatterOf(text: string): Span[] {
  const [opening] = /^\s{0,1000}---[ \t]{0,100}\r?\n/.exec(text) ?? [];
  const close = opening === undefined ? -1 : text.indexOf("\n---", opening.length - 1);
  return opening === undefined || close < 0 ? [] : [{ start: opening.length, end: close + 1 }];
}

/** The text between `<script …>` and `</script`, or those of styles. Each search continues where the last one ended. */
function blocksOf(text: string, name: "script" | "style"): Span[] {
  const spans: Span[] = [];
  const opening = name === "script" ? /<script(?=[\s>])/gi : /<style(?=[\s>])/gi;
  const closing = name === "script" ? /<\/script(?=[\s>])/gi : /<\/style(?=[\s>])/gi;
  for (let open = opening.exec(text); open !== null; open = opening.exec(text)) {
    const start = text.indexOf(">", opening.lastIndex) + 1;
    if (start === 0) break;
    closing.lastIndex = start;
    const close = closing.exec(text);
    if (close === null) break;
    spans.push({ start, end: close.index });
    opening.lastIndex = closing.lastIndex;
  }
  return spans;
}
