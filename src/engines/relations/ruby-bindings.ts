/** Variables of Ruby, and the values assigned to them. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, holderOf, UNKNOWN } from "./expressions.ts";
import { MAX_DEPTH } from "./limits.ts";
import { asValue, constantOf, type Place, valueOf } from "./ruby-expressions.ts";
import { memberKey } from "./ruby-keys.ts";

const PATTERN =
  /parameters?$|pattern$|^(?:left_assignment_list|rest_assignment|destructured_left_assignment|exception_variable)$/;

/** Binds the names of parameters and patterns. Returns the expressions among them, such as default values. */
export function bindNames(node: SyntaxNode, place: Place): SyntaxNode[] {
  const evaluated: SyntaxNode[] = [];
  const left = [{ node, depth: place.depth }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { node: at, depth } = next;
    if (at.type === "identifier") bindVariable(at.text, UNKNOWN, place);
    else if (at.type === "instance_variable") bindInstance(at, UNKNOWN, place);
    else if (PATTERN.test(at.type) && depth < MAX_DEPTH) {
      const value = at.field("value");
      const isDefault = at.type.endsWith("parameter");
      // `in {name:}` binds the name.
      if (at.type === "keyword_pattern" && !value) bindVariable(at.field("key")?.text ?? "", UNKNOWN, place);
      for (const each of at.namedChildren) {
        if (isDefault && each.id === value?.id) evaluated.push(each);
        else left.push({ node: each, depth: depth + 1 });
      }
    } else if (at.type === "call" || at.type === "element_reference") evaluated.push(at);
  }
  return evaluated;
}

/** Binds the names of `a, @b = x, y`; false for other assignments. */
export function bindParallel(left: SyntaxNode, right: SyntaxNode, place: Place): boolean {
  if (left.type !== "left_assignment_list" || right.type !== "right_assignment_list") return false;
  const [names, values] = [left.namedChildren, right.namedChildren];
  const isPlain = names.every(({ type }) => /^(?:identifier|instance_variable)$/.test(type));
  if (!isPlain || names.length !== values.length || values.some(({ type }) => type === "splat_argument")) return false;
  const given = values.map((each) => valueOf(each, place));
  for (const [at, name] of names.entries()) {
    const value = given[at] ?? UNKNOWN;
    if (name.type === "identifier") bindVariable(name.text, value, place);
    else bindInstance(name, value, place);
  }
  return true;
}

export function bindVariable(name: string, value: Expression, { file, scope }: Place): void {
  const holder = holderOf(scope, name) ?? scope;
  if (value.is === "name" || value.is === "member") file.bind(holder, name, { is: "alias", of: value });
  else file.bind(holder, name, { is: "variable", value: value.is === "import" ? UNKNOWN : value });
}

export function bindInstance(node: SyntaxNode, value: Expression, { file, body, level, self }: Place): void {
  if (body && self !== "unknown") file.member(body.opened, memberKey(level, node.text), node.row + 1, asValue(value));
}

/** `rescue A => e` */
export function bindRescued(node: SyntaxNode, place: Place): void {
  const name = node.field("variable")?.namedChild(0);
  if (name?.type !== "identifier") return;
  const [only, ...others] = node.field("exceptions")?.namedChildren ?? [];
  const type = only && others.length === 0 ? constantOf(only, place) : undefined;
  const { file, scope } = place;
  // A subclass may override the methods of the named class.
  file.bind(holderOf(scope, name.text) ?? scope, name.text, { is: "variable", type: type ?? UNKNOWN });
}
