import { afterAnnotations, headText } from "./annotations.ts";
import type { LoadedGrammar } from "./core.ts";
import { type Trivium, TriviaIndex, type TriviumNode } from "./leading.ts";
import { plainName } from "./plain-name.ts";
import { foldSignature, limitDoc } from "./prose.ts";
import type { Found, GrammarRules, Rule, NameScope } from "./rules/rule.ts";
import type { SourceText } from "./source-text.ts";
import type { SyntaxNode, SyntaxTree } from "./syntax-node.ts";
import type { DraftSymbol, SymbolKind } from "./types.ts";

const FUNCTION_KINDS: ReadonlySet<SymbolKind> = new Set<SymbolKind>([
  "function",
  "method",
  "constructor",
  "macro",
  "test",
]);
/** Types open a scope of members even inside a function. */
const TYPE_KINDS: ReadonlySet<SymbolKind> = new Set<SymbolKind>([
  "class",
  "struct",
  "interface",
  "enum",
  "union",
  "trait",
  "object",
  "extension",
]);
/** Kinds that can be the parent of members declared elsewhere. */
const OWNER_KINDS: ReadonlySet<SymbolKind> = new Set<SymbolKind>([...TYPE_KINDS, "type", "module", "namespace"]);
/** A file with more symbols than this is data; the rest is only chunked. */
const MAX_SYMBOLS = 20_000;
/** Kinds that conditional compilation, unions of types and the like declare twice in the same place. */
const MEMBER_KINDS: ReadonlySet<SymbolKind> = new Set<SymbolKind>(["field", "enum_member"]);

/** Characters of a declaration's head in which its name is searched. */
const MAX_NAME_DISTANCE = 2000;

/** Role of a node type: trivia, declaration, or (Elixir's attributes) either. */
interface Entry {
  trivia?: "comment" | "attribute";
  rule?: Rule;
}

/** A grammar's rules laid out by type id. */
export interface CompiledRules {
  rules: GrammarRules;
  /** Type ids that have an entry. */
  wanted: number[];
  byTypeId: (Entry | undefined)[];
}

export function compileRules(rules: GrammarRules, grammar: LoadedGrammar): CompiledRules {
  const byTypeId: CompiledRules["byTypeId"] = [];
  const wanted: number[] = [];
  for (const [id, type] of grammar.types.entries()) {
    if (type === undefined || !grammar.isNamed[id]) continue;
    const entry = ruleFor(rules, type);
    if (entry === undefined) continue;
    byTypeId[id] = entry;
    wanted.push(id);
  }
  return { rules, wanted, byTypeId };
}

function ruleFor(rules: GrammarRules, type: string): CompiledRules["byTypeId"][number] {
  if (rules.comments.includes(type)) return { trivia: "comment" };
  const rule = Object.hasOwn(rules.symbols, type) ? rules.symbols[type] : undefined;
  if (rules.attributes?.includes(type)) return { trivia: "attribute", ...(rule && { rule }) };
  return rule && { rule };
}

const ROOT: NameScope = {
  kind: "root",
  name: "",
  path: "",
  end: Number.POSITIVE_INFINITY,
  local: false,
  symbol: null,
  outlineOnly: false,
};

interface Extracted {
  symbols: DraftSymbol[];
  comments: readonly { start: number; end: number }[];
}

/** Reads the symbols of a tree in document order, outer before inner. `attributes` are those that the tree lacks. */
export function extractSymbols(
  tree: SyntaxTree,
  source: SourceText,
  compiled: CompiledRules,
  attributes: readonly TriviumNode[] = [],
): Extracted {
  const nodes = tree.nodesOf(compiled.wanted);
  const trivia: Trivium[] = [];
  const declarations: { node: SyntaxNode; rule: Rule }[] = [];
  // Collect all first: a rule may find symbols that start after its node does.
  for (const node of nodes) {
    const { trivia: kind, rule } = compiled.byTypeId[node.typeId] ?? {};
    if (rule !== undefined && (kind === undefined || rule(node, ROOT) !== undefined)) declarations.push({ node, rule });
    else if (kind !== undefined) trivia.push({ node, isAttribute: kind === "attribute" });
  }
  if (attributes.length > 0) {
    for (const node of attributes) trivia.push({ node, isAttribute: true });
    trivia.sort((a, b) => a.node.start - b.node.start);
  }
  const extractor = new Extractor(source, compiled.rules, trivia);
  for (const { node, rule } of declarations) extractor.visit(node, rule);
  resolveOwners(extractor.symbols);
  return {
    symbols: extractor.symbols,
    comments: trivia.filter(({ isAttribute }) => !isAttribute).map(({ node }) => node),
  };
}

class Extractor {
  readonly symbols: DraftSymbol[] = [];
  readonly #source: SourceText;
  readonly #rules: GrammarRules;
  readonly #leads: TriviaIndex;
  /** Scripts assign a variable again and again; it is declared at the first of them. */
  readonly #variables = new Set<string>();
  readonly #members = new Set<string>();
  /** Number of symbols that are visible to chunks. */
  #shaping = 0;
  readonly #stack: NameScope[] = [ROOT];

  constructor(source: SourceText, rules: GrammarRules, trivia: readonly Trivium[]) {
    this.#source = source;
    this.#rules = rules;
    this.#leads = new TriviaIndex(source.text, trivia, rules.attributeDoc);
  }

  visit(node: SyntaxNode, rule: Rule): void {
    while (this.#stack.at(-1)!.end <= node.start) this.#stack.pop();
    const scope = this.#stack.at(-1)!;
    const result = rule(node, scope);
    if (result === undefined) return;
    if (Array.isArray(result)) for (const found of result) this.#enter(found, node, scope);
    else this.#enter(result, node, scope);
  }

  #enter(found: Found, node: SyntaxNode, around: NameScope): void {
    if (found.fileWide) this.#stack.length = 1;
    const scope = found.fileWide ? this.#stack[0]! : around;
    const written = plainName(found.name.trim());
    // The class that is made around the members of a Razor file has no name.
    const isUnnamed = found.kind === "class" && /^\{?$/.test(written);
    const name = isUnnamed ? "" : written;
    const path = this.#qualify(scope, found, name);
    let { symbol } = scope;
    const outlineOnly = scope.outlineOnly || found.outlineOnly === true;
    if (found.kind !== undefined && !isUnnamed) {
      if (name === "" || this.#isKnown(found.kind, path, outlineOnly)) return;
      // The limit on chunk symbols is independent of the number of outline-only symbols.
      if ((outlineOnly ? this.symbols.length : this.#shaping) >= MAX_SYMBOLS) return;
      if (!outlineOnly) this.#shaping++;
      symbol = this.symbols.length;
      this.symbols.push(this.#draft(found.kind, name, path, scope, found, node, outlineOnly));
    }
    if (found.leaf) return;
    this.#stack.push({
      kind: found.kind ?? "scope",
      name,
      path: name === "" ? scope.path : path,
      end: found.fileWide ? Number.POSITIVE_INFINITY : (found.end ?? node.end),
      local: found.local ?? isLocal(found.kind, scope),
      symbol,
      outlineOnly: scope.outlineOnly || (found.kind === undefined && found.outlineOnly === true),
    });
  }

  #isKnown(kind: SymbolKind, path: string, outlineOnly: boolean): boolean {
    const known =
      kind === "variable" ? this.#variables : outlineOnly && MEMBER_KINDS.has(kind) ? this.#members : undefined;
    if (known === undefined) return false;
    if (known.has(path)) return true;
    known.add(path);
    return false;
  }

  #qualify(scope: NameScope, found: Found, name: string): string {
    const separator = found.separator ?? this.#rules.separator;
    if (found.container === undefined || found.container === "") return join(scope.path, name, separator);
    return join(scope.path, join(found.container, name, separator), this.#rules.separator);
  }

  #draft(
    kind: SymbolKind,
    name: string,
    path: string,
    scope: NameScope,
    found: Found,
    node: SyntaxNode,
    outlineOnly: boolean,
  ): DraftSymbol {
    const source = this.#source;
    const outer = found.outer ?? node;
    const lead = this.#leads.before(outer.start);
    const end = trimEnd(source.text, outer.start, found.end ?? outer.end);
    const headStart = found.headStart ?? outer.start;
    const declaration = "children" in outer ? outer : node;
    const headEnd = found.headEnd ?? node.field("body")?.start ?? this.#defaultHeadEnd(kind, node, end);
    return {
      kind,
      name,
      qualifiedName: path,
      signature: foldSignature(headText(declaration, headStart, Math.min(Math.max(headEnd, headStart), end))),
      doc: found.doc === undefined ? lead.doc : limitDoc(found.doc),
      parent: scope.symbol,
      start: lead.start,
      end,
      startRow: source.rowAt(lead.start),
      endRow: source.rowAt(Math.max(end - 1, lead.start)),
      nameStart: Math.min(this.#nameStart(name, found, node, headStart), end),
      leadRow: source.rowAt(lead.docStart),
      outlineOnly,
    };
  }

  #nameStart(name: string, found: Found, node: SyntaxNode, headStart: number): number {
    if (found.nameNode !== undefined) return found.nameNode.start;
    const field = node.field("name");
    if (field !== undefined && field.start >= headStart && field.text.includes(name)) return field.start;
    const head = this.#source.text.slice(headStart, headStart + MAX_NAME_DISTANCE);
    return headStart + Math.max(wordIndex(head, name), 0);
  }

  /** The head is the whole node for functions without a body, else up to the end of its first line behind annotations. */
  #defaultHeadEnd(kind: SymbolKind, node: SyntaxNode, end: number): number {
    if (FUNCTION_KINDS.has(kind) && kind !== "macro") return end;
    const row = this.#source.rowAt(afterAnnotations(node));
    return this.#source.contentEnd(Math.min(row, this.#source.lineCount - 1));
  }
}

function isLocal(kind: SymbolKind | undefined, scope: NameScope): boolean {
  if (kind === undefined) return scope.local;
  return FUNCTION_KINDS.has(kind) || (scope.local && !TYPE_KINDS.has(kind));
}

function join(left: string, right: string, separator: string): string {
  return left === "" ? right : `${left}${separator}${right}`;
}

/** Members written apart from their type (`impl`, receivers, `A::b`) get it as parent, if the file declares it. */
export function resolveOwners(symbols: readonly DraftSymbol[]): void {
  const owners = new Map<string, number>();
  for (const [index, symbol] of symbols.entries()) {
    if (OWNER_KINDS.has(symbol.kind) && !owners.has(symbol.qualifiedName)) owners.set(symbol.qualifiedName, index);
  }
  for (const [index, symbol] of symbols.entries()) {
    if (symbol.qualifiedName.length === symbol.name.length) continue;
    const owner = symbol.qualifiedName.slice(0, -symbol.name.length).replace(/(?:::|[.#:\\])$/, "");
    const parent = symbol.parent === null ? undefined : symbols[symbol.parent];
    if (parent?.qualifiedName === owner) continue;
    const ownerIndex = owners.get(owner);
    if (ownerIndex !== undefined && ownerIndex !== index) symbol.parent = ownerIndex;
  }
}

const WORD_CHARACTER = /[\p{L}\p{N}_$]/u;

/** Index of a word that is not part of a longer one; -1 if there is none. */
function wordIndex(text: string, word: string): number {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const isPart = WORD_CHARACTER.test(text[at - 1] ?? "") || WORD_CHARACTER.test(text[at + word.length] ?? "");
    if (!isPart) return at;
  }
  return -1;
}

/** Some grammars include trailing line breaks in a node. */
function trimEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && /\s/.test(text[at - 1]!)) at--;
  return at;
}
