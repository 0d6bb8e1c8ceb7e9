/** Components that scripts and markup use by their tags, and functions that markup uses with an element. */
import { pascalCase } from "../parsing/component-names.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, lookUp } from "./expressions.ts";
import { COMPONENTS } from "./types.ts";
import { type Place, use } from "./typescript-expressions.ts";

/** Reads the opening tag of an element of JSX. */
export function jsxComponent(tag: SyntaxNode, place: Place): void {
  const component = tag.field("name");
  // Names of elements of HTML begin with a lower-case letter.
  if (component && !/^\p{Ll}[^.]*$/u.test(component.text)) use("call", component, place);
}

/** Reads a statement of the markup of a component, which `readMarkup` has made of a tag or the like if it is a mere name. */
export function usedName(statement: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const [node] = statement.namedChildren;
  if (node?.type === "member_expression") use("call", node, place);
  if (node?.type !== "identifier") return;
  // `account-card` is `AccountCard`, and a script may bind it as `accountCard`.
  const name = node.text.includes("-") ? pascalCase(node.text) : node.text;
  const bound = [name, name.slice(0, 1).toLowerCase() + name.slice(1)].find((each) => lookUp(scope, each));
  const of: Expression =
    bound === undefined
      ? { is: "likely", of: { is: "import", module: COMPONENTS, name } }
      : { is: "name", name: bound, scope };
  file.use("call", name, node.row + 1, scope, of);
}
