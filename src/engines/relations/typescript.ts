import { functionOf } from "../parsing/rules/wrapped-functions.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { templateCalls } from "./angular.ts";
import { type Expression, NOTHING, type OpenClass, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import {
  assignedTo,
  destructured,
  fieldAssignment,
  fieldType,
  heldObject,
  loopVariable,
  pattern,
  thisOf,
} from "./typescript-bindings.ts";
import { jsxComponent, usedName } from "./typescript-components.ts";
import { aliasOf, callbackTypes, functionField, handedTo } from "./typescript-callbacks.ts";
import {
  assignedName,
  expressionOf,
  FUNCTION,
  giveTypes,
  givenValues,
  narrowed,
  LEAVES,
  objectOf,
  ownOf,
  type Place,
  resultsOf,
  typeParameters,
  use,
  usedIn,
  valueOf,
} from "./typescript-expressions.ts";
import { typeOf } from "./typescript-types.ts";
import { exportedNames, importStatement, requiredNames } from "./typescript-imports.ts";
import { held, reference } from "./typescript-references.ts";
import { loadedModule, moduleOfCall } from "./loaded-module.ts";
import { visitChildren, visitGuarded } from "./walk.ts";

/** Reads a tree of TypeScript or JavaScript, whose names are bound in `scope`. */
export function readTypeScript(root: SyntaxNode, file: FileBuilder, scope = file.top): void {
  children(root, { file, scope, depth: 0, results: undefined });
}

const children = (node: SyntaxNode, place: Place): void => visitChildren(node, place, visit);

function visit(node: SyntaxNode, place: Place): void {
  held(node, place);
  if (LEAVES.has(node.type)) return;
  const { file, scope } = place;
  switch (node.type) {
    case "import_statement":
      importStatement(node, place);
      return;
    case "export_statement":
      exportStatement(node, place);
      return;
    case "function_declaration":
    case "generator_function_declaration":
    case "function_signature":
      functionLike(node, place, node.field("name"), true, undefined);
      return;
    case "function_expression":
    case "generator_function":
    case "arrow_function":
      functionLike(node, place, node.field("name") ?? assignedName(node), false, thisOf(node, place));
      return;
    // Of an object that nothing holds.
    case "method_definition":
      functionLike(node, place, node.field("name"), false, undefined);
      return;
    case "class_declaration":
    case "abstract_class_declaration":
    case "interface_declaration":
    case "class":
      classLike(node, place, node.field("name"));
      return;
    case "type_alias_declaration":
      typeAlias(node, place);
      return;
    case "return_statement": {
      const value = node.namedChildren.find(({ type }) => type !== "comment");
      if (value) result(value, place);
      return;
    }
    case "enum_declaration": {
      const name = node.field("name");
      if (name) file.bind(scope, name.text, { is: "definition", line: name.row + 1 });
      break;
    }
    case "variable_declarator":
      declarator(node, place);
      return;
    case "statement_block":
    case "for_statement":
    case "for_in_statement":
    case "catch_clause": {
      const inner = { ...place, scope: file.inner(scope, undefined) };
      if (node.type === "for_in_statement") loopVariable(node, inner);
      else pattern(node.field("parameter"), inner);
      children(node, inner);
      return;
    }
    case "if_statement":
    case "ternary_expression":
      visitGuarded(node, place, node.field("consequence"), narrowed(node.field("condition"), scope), visit);
      return;
    case "binary_expression": {
      const operator = node.field("operator")?.text;
      const guard = operator === "&&" ? node.field("left") : undefined;
      if (operator === "??" || operator === "||") reference(node.field("right"), place);
      visitGuarded(node, place, node.field("right"), narrowed(guard, scope), visit);
      return;
    }
    case "call_expression": {
      const called = node.field("function");
      const module = called && moduleOfCall(node, called, /^(?:require|import)$/);
      if (module !== undefined) file.imports(module, node.row + 1);
      for (const each of usedIn(called)) use("call", each, place);
      break;
    }
    case "new_expression": {
      const made = node.field("constructor");
      if (made) use("construct", made, place);
      break;
    }
    case "expression_statement":
      if (scope.isMarkup === true) usedName(node, place);
      break;
    case "jsx_opening_element":
    case "jsx_self_closing_element":
      jsxComponent(node, place);
      break;
    case "decorator": {
      const [value] = node.namedChildren;
      const named = value?.type === "call_expression" ? value.field("function") : value;
      if (named) use("decorator", named, place);
      templateCalls(node, place);
      break;
    }
    case "assignment_expression": {
      const object = fieldAssignment(node, place);
      reference(node.field("right"), place);
      if (!object) break;
      objectLiteral(object.node, object.opened, place);
      return;
    }
  }
  children(node, place);
}

function exportStatement(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  exportedNames(node, place);
  const isDefault = node.children.some(({ type }) => type === "default");
  const declared = node.field("declaration");
  const value = node.field("value");
  const name = declared?.field("name");
  if (isDefault && name) file.exportAs("default", { is: "name", name: name.text, scope });
  else if (isDefault && value) {
    const line = value.row + 1;
    const object = objectOf(value);
    const isNamed = object ?? (FUNCTION.test(value.type) || value.type === "class");
    file.exportAs("default", isNamed ? { is: "class", line } : expressionOf(value, scope));
    if (object) {
      objectLiteral(object, file.openClass(line), place);
      return;
    }
  }
  children(node, place);
}

function functionLike(
  node: SyntaxNode,
  place: Place,
  name: SyntaxNode | undefined,
  isDeclared: boolean,
  owner: OpenClass | undefined,
): void {
  const { file, scope } = place;
  if (name && isDeclared) file.bind(scope, name.text, { is: "definition", line: name.row + 1 });
  // `this` of a function expression is not that of the class; of an arrow function it is.
  const results: Expression[] = [];
  const inner = { ...place, scope: file.inner(scope, name?.text, owner ?? null), results };
  typeParameters(node, inner);
  const returns = node.field("return_type");
  if (returns && name) file.returns(name.row + 1, typeOf(returns, inner.scope));
  parameters(node, inner, name && name.row + 1);
  const body = node.field("body");
  if (body?.type === "statement_block") children(body, inner);
  else if (body) result(body, inner);
  if (name && !returns) file.returnsValues(name.row + 1, results);
}

/** A value that the function around returns. */
function result(value: SyntaxNode, place: Place): void {
  // An empty one tells nothing of what else is returned.
  const isEmpty = objectOf(value)?.namedChildren.length === 0;
  const object = isEmpty ? undefined : heldObject(value, value.row + 1, place.file);
  place.results?.push(...(object ? [object.is] : resultsOf(value, place.scope)));
  if (object) objectLiteral(object.node, object.opened, place);
  else visit(value, { ...place, around: "return_statement" });
}

/** Binds the parameters. `line`: of the function, to which what it hands to callbacks is recorded. */
function parameters(node: SyntaxNode, place: Place, line: number | undefined): void {
  const { file, scope } = place;
  const isFunction = node.type === "arrow_function" || node.type === "function_expression";
  const handed = (at: number) => (isFunction ? handedTo(node, at, scope.outer ?? scope) : undefined);
  const single = node.field("parameter");
  if (single?.type === "identifier") file.bind(scope, single.text, { is: "variable", value: handed(0) });
  else if (single) pattern(single, place);
  for (const [at, each] of (node.field("parameters")?.namedChildren ?? []).entries()) {
    const bound = each.field("pattern") ?? each;
    const type = each.field("type");
    if (type && line !== undefined) callbackTypes(type, at, line, place);
    const value = each.field("value");
    if (bound.type !== "identifier") pattern(bound, place, type ? typeOf(type, scope) : handed(at));
    else {
      const made = value && valueOf(value, scope.outer ?? scope);
      const known = type ? { type: typeOf(type, scope) } : { value: made && made.is !== "unknown" ? made : handed(at) };
      file.bind(scope, bound.text, { is: "variable", ...known });
      // `constructor(private readonly store: Store)` declares a field.
      const isField = each.childOfType("accessibility_modifier") ?? each.children.find((c) => c.type === "readonly");
      if (isField && scope.own)
        file.member(scope.own, bound.text, bound.row + 1, known.type ?? UNKNOWN, known.type !== undefined);
    }
    for (const child of each.namedChildren)
      if (child.type === "decorator" || child.id === value?.id) visit(child, place);
  }
}

/** A type with another name has the members of what it stands for. */
function typeAlias(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const [name, value] = [node.field("name"), node.field("value")];
  if (!name || !value) return;
  const line = name.row + 1;
  file.bind(scope, name.text, { is: "definition", line });
  const inner = { ...place, scope: file.inner(scope, name.text) };
  const opened = file.openClass(line);
  typeParameters(node, inner, name.text, opened);
  aliasOf(value, opened, inner, (member) => classMember(member, opened, inner));
}

function classLike(node: SyntaxNode, place: Place, name: SyntaxNode | undefined): void {
  const { file, scope } = place;
  const line = (name ?? node).row + 1;
  const opened = file.openClass(line);
  if (name && node.type !== "class") file.bind(scope, name.text, { is: "definition", line });
  const inner = { ...place, scope: file.inner(scope, name?.text, opened) };
  typeParameters(node, inner, name?.text, opened);
  for (const clause of node.namedChildren) {
    if (clause.type === "decorator") visit(clause, place);
    if (clause.type === "class_heritage" || clause.type === "extends_type_clause") heritage(clause, opened, inner);
  }
  for (const member of node.field("body")?.namedChildren ?? []) classMember(member, opened, inner);
}

function heritage(node: SyntaxNode, opened: OpenClass, place: Place): void {
  for (const [i, base] of node.namedChildren.entries()) {
    if (base.type === "extends_clause" || base.type === "implements_clause") heritage(base, opened, place);
    else if (base.type !== "type_arguments") {
      const named = base.type === "generic_type" ? (base.field("name") ?? base) : base;
      use("inherit", named, place);
      const of = expressionOf(named, place.scope);
      opened.bases.push(of);
      if (node.type === "extends_clause") opened.superclass = of;
      giveTypes(named, base.field("type_arguments") ?? node.namedChildren[i + 1], opened, place);
      if (named.type === "call_expression") visit(named, place);
    }
  }
}

function classMember(node: SyntaxNode, opened: OpenClass, place: Place): void {
  const { file, scope } = place;
  if (node.type === "call_signature") {
    // What may be called with callbacks, as a function may.
    const inner = { ...place, scope: file.inner(scope, undefined) };
    typeParameters(node, inner);
    parameters(node, inner, opened.line);
    const returns = node.field("return_type");
    if (returns) file.returnsFirst(opened.line, typeOf(returns, inner.scope));
    return;
  }
  const name = node.field("name") ?? node.field("property");
  const [type, value] = [node.field("type"), node.field("value")];
  if (node.type === "method_definition" || node.type.endsWith("method_signature")) {
    const returns = node.field("return_type");
    const isGetter = node.children.some((child) => child.type === "get");
    if (name) file.member(opened, name.text, name.row + 1, isGetter && returns ? typeOf(returns, scope) : undefined);
    functionLike(node, place, name, false, scope.own);
  } else if (name && /(?:field_definition|property_signature)$/.test(node.type)) {
    const isFunction = value !== undefined && FUNCTION.test(value.type);
    const object = type ? undefined : heldObject(value, name.row + 1, file);
    const given = object ? [object.is] : value && !isFunction ? givenValues(value, scope) : [undefined];
    for (const of of type ? [fieldType(type, name.row + 1, place, classMember)] : given)
      file.member(opened, name.text, name.row + 1, of, type !== undefined);
    if (type) functionField(type, name.row + 1, place);
    if (value && isFunction) functionLike(value, place, name, false, scope.own);
    else if (object) objectLiteral(object.node, object.opened, place);
    else if (value) visit(value, place);
    for (const child of node.namedChildren) if (child.type === "decorator") visit(child, place);
  } else visit(node, place);
}

function declarator(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const [name, type] = [node.field("name"), node.field("type")];
  const value = assignedTo(node.field("value"), name, file, scope);
  // `require("./a").b` takes one name of the module.
  const taken = value?.type === "member_expression" ? value.field("property")?.text : undefined;
  const module = loadedModule(taken === undefined ? value : value?.field("object"));
  if (name?.type === "identifier") {
    const line = name.row + 1;
    if (module !== undefined) file.bind(scope, name.text, { is: "import", module, name: taken ?? "*" });
    else if (value && (FUNCTION.test(value.type) || value.type === "class")) {
      file.bind(scope, name.text, { is: "definition", line });
      if (value.type === "class") classLike(value, place, name);
      else functionLike(value, place, name, false, ownOf(value, scope));
      return;
    } else if (functionOf(value)) file.bind(scope, name.text, { is: "definition", line });
    else {
      const object = type ? undefined : objectOf(value);
      const held: Expression[] = object ? [{ is: "class", line }] : value ? givenValues(value, scope) : [NOTHING];
      const known = type ? [{ type: typeOf(type, scope) }] : held.map((each) => ({ value: each }));
      for (const each of known)
        file.bind(scope, name.text, { is: "variable", line: scope === file.top ? line : undefined, ...each, at: line });
      if (object) {
        objectLiteral(object, file.openClass(line), place);
        return;
      }
    }
  } else if (name?.type === "object_pattern" && module !== undefined && taken === undefined)
    requiredNames(name, module, place);
  else if (name) destructured(name, type, value, place);
  if (value?.type === "identifier") reference(value, place);
  else if (value) visit(value, place);
}

/** The members of an object: its functions are members of what `opened` stands for. */
function objectLiteral(node: SyntaxNode, opened: OpenClass, place: Place): void {
  const { file, scope } = place;
  const inner = { ...place, scope: file.inner(scope, undefined, opened) };
  for (const each of node.namedChildren) {
    const name = each.field("key") ?? each.field("name") ?? each;
    const value = each.field("value");
    const line = name.row + 1;
    if (each.type === "method_definition") {
      file.member(opened, name.text, line);
      functionLike(each, inner, name, false, opened);
    } else if (each.type === "shorthand_property_identifier") {
      file.member(opened, name.text, line, { is: "likely", of: { is: "name", name: name.text, scope } });
      reference(name, place);
    } else if (value && name.type === "property_identifier") {
      const isFunction = FUNCTION.test(value.type);
      const object = heldObject(value, line, file);
      file.member(
        opened,
        name.text,
        line,
        isFunction ? undefined : { is: "likely", of: object?.is ?? expressionOf(value, scope) },
      );
      if (isFunction) functionLike(value, place, name, false, value.type === "arrow_function" ? scope.own : opened);
      else if (object) objectLiteral(object.node, object.opened, place);
      else visit(value, { ...place, around: each.type });
    } else {
      const spread = each.type === "spread_element" ? each.namedChild(0) : undefined;
      if (spread) opened.bases.push(expressionOf(spread, scope));
      visit(each, place);
    }
  }
}
