import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, type OpenClass, passed, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { AMBIGUOUS_LINE, MAX_DEPTH } from "./limits.ts";
import { handsOver, handsOverItself, handsToConstructor, lambdaBody, reference } from "./java-callbacks.ts";
import { expressionOf, givenTo, isTypeParameter, type Place, typeOf, typeParameters } from "./java-expressions.ts";
import { importDeclaration } from "./java-imports.ts";
import { lastOf, typeName, typeNameOf } from "./java-signatures.ts";
import { ANY_TYPE } from "./overloads.ts";
import { PACKAGE } from "./packages.ts";
import { visitChildren } from "./walk.ts";
import { ITERATED } from "./wrapped.ts";

/**
 * Reads a Java tree. Methods are known as `name/2`, by the number of their parameters; overloads of the same number are told apart by the
 * names of types (`overloads.ts`).
 */
export function readJava(root: SyntaxNode, file: FileBuilder): void {
  const place: Place = {
    file,
    scope: file.top,
    package: "",
    stars: new Set(),
    statics: new Map(),
    staticStars: [],
    depth: 0,
  };
  const declared = root
    .childOfType("package_declaration")
    ?.namedChildren.find(({ type }) => type.endsWith("identifier"));
  place.package = declared?.text ?? "";
  file.bind(file.top, PACKAGE, { is: "import", module: place.package, name: "*" });
  children(root, place);
}

const children = (node: SyntaxNode, place: Place): void => visitChildren(node, place, visit);

const BLOCKS: ReadonlySet<string> = new Set([
  "block",
  "for_statement",
  "enhanced_for_statement",
  "try_with_resources_statement",
  "catch_clause",
  "switch_block_statement_group",
  "switch_rule",
]);

function visit(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  switch (node.type) {
    case "line_comment":
    case "block_comment":
    case "identifier":
    case "package_declaration":
      return;
    case "import_declaration":
      importDeclaration(node, place);
      return;
    case "class_declaration":
    case "interface_declaration":
    case "enum_declaration":
    case "record_declaration":
    case "annotation_type_declaration":
      classDeclaration(node, place);
      return;
    case "method_declaration":
    case "constructor_declaration":
    case "compact_constructor_declaration":
      methodBody(node, place);
      return;
    case "lambda_expression":
      children(node, lambdaBody(node, place));
      return;
    case "object_creation_expression":
      construction(node, place);
      return;
    case "method_invocation": {
      const name = node.field("name");
      if (name) file.use("call", name.text, name.row + 1, scope, expressionOf(node, place, true));
      break;
    }
    case "method_reference":
      reference(node, place);
      break;
    case "marker_annotation":
    case "annotation": {
      const name = node.field("name");
      if (name) file.use("decorator", lastOf(name).text, name.row + 1, scope, typeOf(name, place));
      break;
    }
    case "local_variable_declaration":
      variables(node, place);
      break;
  }
  const inner = BLOCKS.has(node.type) ? { ...place, scope: file.inner(scope, undefined) } : place;
  bindNamed(node, inner);
  children(node, inner);
}

/** Binds the variable that a loop, resource, pattern or catch clause declares. */
function bindNamed(node: SyntaxNode, place: Place): void {
  if (
    !/^(?:resource|instanceof_expression|enhanced_for_statement|catch_formal_parameter|type_pattern)$/.test(node.type)
  )
    return;
  const name = node.field("name") ?? (node.type === "type_pattern" ? node.namedChild(1) : undefined);
  if (name?.type !== "identifier") return;
  const type =
    node.field("type") ?? node.field("right") ?? (node.type === "type_pattern" ? node.namedChild(0) : undefined);
  const value = node.field("value");
  if (node.type !== "enhanced_for_statement" || type?.text !== "var" || !value)
    place.file.bind(place.scope, name.text, { is: "variable", ...typeOrValue(type, value, place) });
  else
    place.file.bind(place.scope, name.text, {
      is: "alias",
      of: { is: "member", of: expressionOf(value, place), name: ITERATED },
    });
}

function classDeclaration(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const name = node.field("name");
  if (!name) return;
  const line = name.row + 1;
  if (!scope.names.has(name.text)) file.bind(scope, name.text, { is: "definition", line });
  const opened = file.openClass(line);
  const inner = { ...place, scope: file.inner(scope, name.text, opened) };
  typeParameters(node, inner, name.text);
  if (node.field("type_parameters")) file.declaresTypes(opened, name.text);
  for (const clause of node.namedChildren)
    if (/^(?:superclass|super_interfaces|extends_interfaces)$/.test(clause.type)) heritage(clause, opened, inner);
    else if (clause.type === "modifiers") visit(clause, place);
  for (const each of node.field("parameters")?.namedChildren ?? []) recordComponent(each, opened, inner);
  const body = node.field("body");
  if (body) {
    classBody(body, opened, inner);
    handsToConstructor(body.namedChildren, line, inner);
  }
  if (body && node.type === "interface_declaration") handsOverItself(body.namedChildren, line, inner);
  accessors(node, opened, inner);
}

function heritage(node: SyntaxNode, opened: OpenClass, place: Place): void {
  for (const each of node.namedChildren) {
    if (each.type === "type_list") {
      heritage(each, opened, place);
      continue;
    }
    const named = lastOf(each);
    // The bases of a class are looked up outside of it.
    const of = typeOf(each, { ...place, scope: place.scope.outer ?? place.scope });
    place.file.use("inherit", named.text, named.row + 1, place.scope, of);
    opened.bases.push(of);
    if (node.type === "superclass") opened.superclass = of;
    for (const [at, type] of (each.childOfType("type_arguments")?.namedChildren ?? []).entries())
      place.file.gives(opened, named.text, at, type.row + 1, typeOf(type, place));
  }
}

function recordComponent(node: SyntaxNode, opened: OpenClass, place: Place): void {
  const [name, type] = [node.field("name"), node.field("type")];
  if (!name) return;
  const known = type ? typeOf(type, place) : UNKNOWN;
  place.file.member(opened, name.text, name.row + 1, known);
  place.file.bind(place.scope, name.text, { is: "variable", type: known });
}

/** Annotations of Lombok by which a class has methods that read its fields. */
const GIVE_GETTERS = /^(?:Data|Getter|Value)$/;

const hasGetters = (node: SyntaxNode): boolean =>
  node
    .childOfType("modifiers")
    ?.namedChildren.some(
      (each) => each.type.endsWith("annotation") && GIVE_GETTERS.test(each.field("name")?.text ?? ""),
    ) ?? false;

/** The methods that read the components of a record, or the fields of a class with such an annotation, unless they are declared. */
function accessors(node: SyntaxNode, opened: OpenClass, { file }: Place): void {
  const read = (method: string, field: string): void => {
    const own = opened.members.get(field);
    const key = `${method}/0`;
    if (own && !opened.members.has(key)) file.member(opened, key, own.line, own.types[0], true);
  };
  for (const each of node.field("parameters")?.namedChildren ?? []) {
    const name = each.field("name")?.text;
    if (name !== undefined) read(name, name);
  }
  const isOfClass = hasGetters(node);
  for (const each of node.field("body")?.namedChildren ?? []) {
    if (each.type !== "field_declaration" || !(isOfClass || hasGetters(each))) continue;
    for (const own of each.fields("declarator")) {
      const name = own.field("name")?.text ?? "";
      read(`get${name.charAt(0).toUpperCase()}${name.slice(1)}`, name);
    }
  }
}

/** Members are bound in the class's scope too, where its methods and inner classes see them without a receiver. */
function classBody(body: SyntaxNode, opened: OpenClass, place: Place): void {
  const members = body.namedChildren.flatMap((each) =>
    each.type === "enum_body_declarations" ? each.namedChildren : [each],
  );
  for (const member of members) declareMember(member, opened, place);
  declareMethods(
    members.filter(({ type }) => type === "method_declaration"),
    opened,
    place,
  );
  for (const member of members) {
    if (member.type === "field_declaration") {
      for (const each of member.namedChildren) if (each.type === "modifiers") visit(each, place);
      for (const each of member.fields("declarator")) {
        const value = each.field("value");
        if (value) visit(value, place);
      }
    } else if (member.type === "enum_constant") {
      const inner = member.field("body");
      const args = member.field("arguments");
      if (args) children(args, place);
      if (inner) anonymousBody(inner, { is: "class", line: opened.line }, place);
    } else visit(member, place);
  }
}

function declareMember(node: SyntaxNode, opened: OpenClass, place: Place): void {
  const { file, scope } = place;
  const name = node.field("name");
  if (node.type === "field_declaration" || node.type === "constant_declaration") {
    const type = node.field("type");
    const isArray = node.fields("declarator").some((each) => each.field("dimensions"));
    const known = type && !isArray ? typeOf(type, place) : UNKNOWN;
    const member = type && isTypeParameter(type, place) ? givenTo(type, place) : known;
    for (const each of node.fields("declarator")) {
      const own = each.field("name");
      if (!own) continue;
      file.member(opened, own.text, own.row + 1, member);
      file.bind(scope, own.text, {
        is: "variable",
        type: known,
        typeName: isArray ? undefined : typeName(type, place),
      });
    }
  } else if (node.type === "method_declaration" && name) {
    const type = node.field("type");
    const inner = { ...place, scope: file.inner(scope, undefined) };
    typeParameters(node, inner);
    handsOver(node, name.row + 1, inner);
    if (type && !node.field("dimensions"))
      file.returns(name.row + 1, isTypeParameter(type, inner) ? givenTo(type, inner) : typeOf(type, inner));
  } else if (node.type === "enum_constant" && name) {
    file.member(opened, name.text, name.row + 1, { is: "call", of: { is: "class", line: opened.line } });
    file.bind(scope, name.text, { is: "alias", of: { is: "class", line: opened.line } });
  } else if (node.type.endsWith("_declaration") && name && node.type !== "constructor_declaration") {
    file.member(opened, name.text, name.row + 1);
    file.bind(scope, name.text, { is: "definition", line: name.row + 1 });
  }
}

/** Numbers of arguments with which a method that takes any number of them is looked up. */
const MAX_VARIADIC = 8;

/** Binds methods by their names and numbers of parameters; where several take as many arguments, with the types that tell them apart. */
function declareMethods(nodes: readonly SyntaxNode[], opened: OpenClass, place: Place): void {
  const { file, scope } = place;
  const methods = nodes.flatMap((node) => {
    const name = node.field("name");
    if (!name) return [];
    const inner = { ...place, scope: file.inner(scope, undefined) };
    typeParameters(node, inner);
    const list = (node.field("parameters")?.namedChildren ?? []).filter(({ type }) => type.endsWith("_parameter"));
    const parameters = list.filter(({ type }) => type !== "receiver_parameter");
    const types = parameters.map((each) => parameterType(each, inner));
    const isAnnotated = annotatedSpread(node) !== undefined;
    if (isAnnotated) types.push(ANY_TYPE);
    const isVariadic = isAnnotated || list.at(-1)?.type === "spread_parameter";
    return [{ name: name.text, line: name.row + 1, types, isVariadic }];
  });
  for (const [name, own] of Map.groupBy(methods, (each) => each.name)) {
    const variadic = own.filter(({ isVariadic }) => isVariadic);
    for (const { types, line } of variadic) {
      file.memberOnce(opened, `${name}/any(${types.join(",")})`, line);
      for (let count = types.length - 1; count < MAX_VARIADIC; count++)
        scope.names.set(`${name}/${count}`, { is: "overloads", line: opened.line });
    }
    const fixed = own.filter(({ isVariadic }) => !isVariadic);
    for (const [count, same] of Map.groupBy(fixed, ({ types }) => types.length)) {
      const key = `${name}/${count}`;
      const isAlone = same.length === 1 && variadic.every(({ types }) => types.length - 1 > count);
      for (const { line, types } of same)
        if (isAlone) {
          file.memberOnce(opened, key, line);
          file.bindOnce(scope, key, line);
        } else file.memberOnce(opened, `${key}(${types.join(",")})`, line);
      if (isAlone) continue;
      file.member(opened, key, AMBIGUOUS_LINE);
      scope.names.set(key, { is: "overloads", line: opened.line });
    }
  }
}

/** The name of a parameter such as `T @NonNull ... values`, which the grammar does not read. */
function annotatedSpread(method: SyntaxNode): string | undefined {
  const unread = method.field("parameters")?.namedChildren.find(({ type }) => type === "ERROR");
  return /\.\.\. {0,9}([\p{L}_$][\p{L}\p{N}_$]{0,99})$/u.exec(unread?.text.slice(-MAX_SPREAD) ?? "")?.[1];
}

const MAX_SPREAD = 200;

function parameterType(node: SyntaxNode, place: Place): string {
  const isSpread = node.type === "spread_parameter";
  const type = isSpread ? node.namedChildren.find((each) => /type/.test(each.type)) : node.field("type");
  const name = typeName(type, place);
  return node.field("dimensions") ? `${name}[]` : name;
}

function methodBody(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const inner = { ...place, scope: file.inner(scope, node.field("name")?.text) };
  typeParameters(node, inner);
  for (const child of node.namedChildren) if (child.type === "modifiers") visit(child, place);
  for (const each of node.field("parameters")?.namedChildren ?? []) {
    const name = each.field("name") ?? each.childOfType("variable_declarator")?.field("name");
    const type = each.type === "spread_parameter" || each.field("dimensions") ? undefined : each.field("type");
    const known = type && { type: typeOf(type, inner), typeName: typeName(type, inner) };
    if (name) file.bind(inner.scope, name.text, { is: "variable", ...known });
    for (const child of each.namedChildren) if (child.type === "modifiers") visit(child, place);
  }
  const spread = annotatedSpread(node);
  if (spread !== undefined) file.bind(inner.scope, spread, { is: "variable" });
  const body = node.field("body");
  if (body) children(body, inner);
}

function variables(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  for (const each of node.fields("declarator")) {
    const name = each.field("name");
    const type = each.field("dimensions") ? undefined : node.field("type");
    if (name) file.bind(scope, name.text, { is: "variable", ...typeOrValue(type, each.field("value"), place) });
  }
}

/** The declared type of a variable, or its value where that is written as `var`. */
function typeOrValue(
  type: SyntaxNode | undefined,
  value: SyntaxNode | undefined,
  place: Place,
): { type?: Expression; value?: Expression; typeName?: string } {
  if (type && type.text !== "var") return { type: typeOf(type, place), typeName: typeName(type, place) };
  return value ? { value: passed(expressionOf(value, place)), typeName: typeNameOf(value, place) } : {};
}

function construction(node: SyntaxNode, place: Place): void {
  const type = node.field("type");
  const body = node.childOfType("class_body");
  if (type) {
    const named = lastOf(type);
    place.file.use("construct", named.text, named.row + 1, place.scope, typeOf(type, place));
  }
  for (const child of node.namedChildren) if (child.id !== body?.id && child.id !== type?.id) visit(child, place);
  if (body) anonymousBody(body, type ? typeOf(type, place) : UNKNOWN, place);
}

function anonymousBody(body: SyntaxNode, base: Expression, place: Place): void {
  if (place.depth >= MAX_DEPTH) return;
  const opened = place.file.openClass(body.row + 1);
  opened.bases.push(base);
  const scope = place.file.inner(place.scope, undefined, opened);
  classBody(body, opened, { ...place, scope, depth: place.depth + 1 });
}
