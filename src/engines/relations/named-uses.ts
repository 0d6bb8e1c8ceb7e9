/** Uses of languages without rules of scope: each is known by its name alone. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { elixir } from "./elixir.ts";
import type { FileBuilder } from "./file-builder.ts";
import type { NamedLanguage } from "./languages.ts";
import { Found, lastName, MAX_STEPS, type NodeReader } from "./named.ts";
import { type Place, visitChildren } from "./walk.ts";

const quoted = (node: SyntaxNode | undefined): string | undefined => /^["'](.*)["']$/s.exec(node?.text ?? "")?.[1];

/** Whether a name is that of a type: by custom, it begins with a capital. */
const isType = (name: SyntaxNode | undefined): boolean => /^\p{Lu}/u.test(name?.text ?? "");

/** A type that is called is constructed. */
const called = (found: Found, name: SyntaxNode | undefined): void =>
  found.use(isType(name) ? "construct" : "call", name);

const swift: NodeReader = (node, found) => {
  switch (node.type) {
    case "call_expression": {
      const of = node.namedChild(0);
      called(found, of?.type === "navigation_expression" ? of.field("suffix")?.field("suffix") : of);
      return;
    }
    case "inheritance_specifier":
      found.inherits([node]);
      return;
    case "attribute":
      found.use("decorator", lastName(node));
      return;
    case "import_declaration":
      found.imports(node.namedChildren.at(-1)?.text, node);
  }
};

const scala: NodeReader = (node, found) => {
  switch (node.type) {
    case "call_expression": {
      const of = node.field("function");
      const inner = of?.type === "generic_function" ? of.field("function") : of;
      const member = inner?.type === "field_expression" ? inner.field("field") : undefined;
      if (!member) called(found, inner);
      else if (isType(member)) found.use("construct", member);
      return;
    }
    // Methods without parameters are called without parentheses.
    case "field_expression": {
      const member = node.field("field");
      if (!isType(member)) found.use("call", member);
      return;
    }
    case "infix_expression":
      found.use("call", node.field("operator"));
      return;
    case "instance_expression":
      found.use("construct", lastName(node.namedChild(0)));
      return;
    case "extends_clause":
      found.inherits(node.fields("type"));
      return;
    case "annotation":
      found.use("decorator", lastName(node.field("name")));
      return;
    case "import_declaration": {
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
  }
};

const lua: NodeReader = (node, found) => {
  if (node.type !== "function_call") return;
  const name = node.field("name");
  const last = name?.field("method") ?? name?.field("field") ?? name;
  found.use("call", last);
  if (last?.text === "require") found.imports(quoted(node.field("arguments")?.namedChild(0)), node);
};

const bash: NodeReader = (node, found) => {
  if (node.type !== "command") return;
  const name = node.field("name")?.namedChild(0);
  if (name?.type !== "word") return;
  found.use("call", name);
  if (name.text === "source" || name.text === ".")
    found.imports(node.field("argument")?.text.replace(/^["']|["']$/g, ""), node);
};

const zig: NodeReader = (node, found) => {
  if (node.type === "call_expression") {
    const of = node.field("function");
    found.use("call", of?.field("member") ?? of);
  } else if (node.type === "builtin_function" && node.namedChild(0)?.text === "@import")
    found.imports(quoted(node.childOfType("arguments")?.namedChild(0)), node);
};

const dart: NodeReader = (node, found) => {
  switch (node.type) {
    case "new_expression":
    case "const_object_expression":
      found.use("construct", node.childOfType("type_identifier"));
      return;
    case "superclass":
    case "interfaces":
    case "mixins":
      found.inherits(node.namedChildren.filter(({ type }) => type === "type_identifier"));
      return;
    case "annotation":
      found.use("decorator", node.field("name"));
      return;
    case "import_specification":
    case "library_export":
      found.imports(quoted(node.childOfType("configurable_uri")), node);
      return;
  }
  // A call is written as the name and its arguments side by side.
  const parts = node.namedChildren;
  parts.forEach((part, i) => {
    const before = parts[i - 1];
    if ((part.type !== "selector" && part.type !== "argument_part") || !before) return;
    if (part.type === "selector" && part.namedChild(0)?.type !== "argument_part") return;
    called(found, before.type === "identifier" ? before : lastOfSelector(before));
  });
};

function lastOfSelector(node: SyntaxNode): SyntaxNode | undefined {
  let at: SyntaxNode | undefined = node;
  for (let steps = 0; at && at.type !== "identifier" && steps < MAX_STEPS; steps++) at = at.namedChildren.at(-1);
  return at;
}

const READERS: Readonly<Record<NamedLanguage, NodeReader>> = {
  swift,
  scala,
  lua,
  bash,
  elixir,
  zig,
  dart,
};

/** A reader of the uses of a language. */
export function namedUsesOf(language: NamedLanguage): (root: SyntaxNode, file: FileBuilder) => void {
  const read = READERS[language];
  return (root, file) => {
    const found = new Found(file);
    const visit = (node: SyntaxNode, place: Place): void => {
      read(node, found);
      visitChildren(node, place, visit);
    };
    visit(root, { file, scope: file.top, depth: 0 });
  };
}
