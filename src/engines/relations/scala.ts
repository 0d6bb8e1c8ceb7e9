/** Uses of Scala: a file's own functions are known by their scopes, all others by name. */
import { wordSet } from "../../lib/word-set.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Found, isType, lastName, type NamedPlace, type NameRules } from "./named.ts";

function read(node: SyntaxNode, found: Found, place: NamedPlace): void {
  switch (node.type) {
    case "call_expression": {
      const of = node.field("function");
      const inner = of?.type === "generic_function" ? of.field("function") : of;
      const member = inner?.type === "field_expression" ? inner.field("field") : undefined;
      // A type that is called is constructed.
      if (!member) found.bare(isType(inner) ? "construct" : "call", inner, place);
      else if (isType(member)) found.use("construct", member);
      break;
    }
    // Methods without parameters are called without parentheses.
    case "field_expression": {
      const member = node.field("field");
      if (isType(member)) break;
      if (node.field("value")?.text === "this") found.own("call", member, place);
      else found.use("call", member);
      break;
    }
    case "infix_expression":
      found.use("call", node.field("operator"));
      break;
    case "instance_expression":
      found.use("construct", lastName(node.namedChild(0)));
      return;
    case "extends_clause":
      found.inherits(node.fields("type"));
      return;
    case "annotation":
      found.use("decorator", lastName(node.field("name")));
      return;
    case "import_declaration":
      imports(node, found);
      return;
  }
  for (const value of valuesOf(node))
    if (value.type === "identifier" && value.text !== "this" && !isType(value)) found.bare("reference", value, place);
}

function imports(node: SyntaxNode, found: Found): void {
  const path = node.fields("path").flatMap(({ type, text }) => (type === "identifier" ? [text] : []));
  const selectors = node.childOfType("namespace_selectors", "namespace_wildcard");
  if (!selectors) found.imports(path.slice(0, -1).join("."), node, path.at(-1));
  else if (selectors.namedChildren.length === 0) found.imports(path.join("."), node);
  // a.b.{C, D => E, _}
  for (const selector of selectors?.namedChildren ?? []) {
    const name = selector.type === "identifier" ? selector : selector.namedChild(0);
    found.imports(path.join("."), node, name?.text);
  }
}

/** Nodes whose children are values, and those of which only some fields are. */
const HOLDING = wordSet("arguments postfix_expression tuple_expression return_expression interpolation");
const VALUES: Readonly<Record<string, readonly string[]>> = {
  val_definition: ["value"],
  var_definition: ["value"],
  assignment_expression: ["right"],
  infix_expression: ["left", "right"],
  function_definition: ["body"],
  if_expression: ["condition", "consequence", "alternative"],
  case_clause: ["body"],
  match_expression: ["value"],
  field_expression: ["value"],
};

/** What a node hands over, keeps, returns or asks something of: a method without parameters is called by its name there. */
function valuesOf(node: SyntaxNode): readonly SyntaxNode[] {
  if (HOLDING.has(node.type)) return node.namedChildren;
  const last = LAST.has(node.type) ? node.namedChildren.at(-1) : undefined;
  if (last) return [last];
  return VALUES[node.type]?.flatMap((field) => node.fields(field)) ?? [];
}

/** Nodes whose value is their last child. */
const LAST = wordSet("block lambda_expression indented_block");

const SCOPES = wordSet(
  "class_definition object_definition trait_definition enum_definition function_definition block indented_block lambda_expression case_clause for_expression",
);
const TYPES = wordSet("class_definition object_definition trait_definition enum_definition");

export const scala: NameRules = {
  read,
  opens: ({ type }) => SCOPES.has(type),
  types: TYPES,
  functions: (node) => (/^function_(?:definition|declaration)$/.test(node.type) ? [node.field("name")] : []),
  variables: (node) => {
    switch (node.type) {
      case "parameter":
      case "class_parameter":
      case "binding":
        return [node.field("name")];
      case "val_definition":
      case "var_definition":
      case "val_declaration":
      case "case_clause":
        return [...node.fields("name"), ...namesIn(node.field("pattern"))];
      case "enumerator":
        return namesIn(node.namedChild(0));
      case "lambda_expression":
        return namesIn(node.field("parameters"));
    }
    return [];
  },
};

/** Names that a pattern binds: those that begin with a small letter. */
function namesIn(pattern: SyntaxNode | undefined, depth = 0): SyntaxNode[] {
  if (!pattern || depth > MAX_PATTERN_DEPTH) return [];
  if (pattern.type === "identifier") return isType(pattern) ? [] : [pattern];
  return pattern.namedChildren.slice(0, MAX_NAMES).flatMap((child) => namesIn(child, depth + 1));
}

const MAX_PATTERN_DEPTH = 4;
const MAX_NAMES = 30;
