/** Uses of languages in which the rules of names end with the file: what a file does not define is known by name alone. */
import { wordSet } from "../../lib/word-set.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { dart } from "./dart.ts";
import { elixir } from "./elixir.ts";
import type { Scope } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import type { NamedLanguage } from "./languages.ts";
import { MAX_DEPTH } from "./limits.ts";
import { lua } from "./lua.ts";
import { Found, type NamedPlace, type NameRules, type NodeReader } from "./named.ts";
import { scala } from "./scala.ts";
import { swift } from "./swift.ts";
import { zig } from "./zig.ts";

/** Commands that are given the name of a function; `complete` after `-F`. */
const TAKE_FUNCTIONS = wordSet("trap complete compdef run");

const readBash: NodeReader = (node, found, place) => {
  if (node.type !== "command") return;
  const name = node.field("name")?.namedChild(0);
  if (name?.type !== "word") return;
  found.bare("call", name, place);
  if (name.text === "source" || name.text === ".")
    found.imports(node.field("argument")?.text.replace(/^["']|["']$/g, ""), node);
  else if (TAKE_FUNCTIONS.has(name.text)) {
    const words = node.fields("argument").slice(0, MAX_WORDS);
    const option = words.findIndex(({ text }) => text === "-F");
    const given = option >= 0 ? words[option + 1] : words.find(({ text }) => !text.startsWith("-"));
    if (option >= 0 || name.text !== "complete") found.bare("reference", given, place);
  }
};

/** Words of a command among which a function is looked for. */
const MAX_WORDS = 8;

const bash: NameRules = {
  read: readBash,
  functions: (node) => (node.type === "function_definition" ? [node.field("name")] : []),
};

const RULES: Readonly<Record<NamedLanguage, NameRules>> = { swift, scala, lua, bash, elixir, zig, dart };

/** A reader of the uses of a language. */
export function namedUsesOf(language: NamedLanguage): (root: SyntaxNode, file: FileBuilder) => void {
  const rules = RULES[language];
  return (root, file) => {
    file.takesUnknown = true;
    const found = new Found(file);
    /** Returns the scope of what is in the node; `head` is that of the node before it. */
    const visit = (node: SyntaxNode, place: NamedPlace, head?: Scope): Scope => {
      for (const name of rules.functions?.(node, place) ?? [])
        if (name) file.bindOnce(place.scope, name.text, name.row + 1);
      const scope = head ?? (rules.opens?.(node, place) ? file.inner(place.scope, undefined) : place.scope);
      for (const name of rules.variables?.(node, place) ?? [])
        if (name) file.bind(scope, name.text, { is: "variable" });
      const members = rules.types?.has(node.type) ? scope : place.members;
      const inner = { file, scope, members, depth: place.depth + 1, around: node.type };
      rules.read(node, found, inner);
      if (place.depth >= MAX_DEPTH) return scope;
      let before: Scope | undefined;
      for (const child of node.namedChildren)
        before = visit(child, inner, child.type === rules.body && before !== scope ? before : undefined);
      return scope;
    };
    visit(root, { file, scope: file.top, members: undefined, depth: 0 });
  };
}
