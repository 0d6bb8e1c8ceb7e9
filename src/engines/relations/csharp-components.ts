/** Components of Blazor. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { expressionOf, type Place } from "./csharp-expressions.ts";
import { COMPONENTS } from "./types.ts";

/** What stands in a text where the parser of Razor has written `~` before the name of a tag. */
export const TAG = "<";

/** A tag, `<Card />`, whose component is a file of Razor, or else a class. */
export function componentTag(tag: SyntaxNode, place: Place): void {
  const of = tag.namedChild(0);
  const name = of?.type === "member_access_expression" ? of.field("name") : of;
  if (!of || name?.type !== "identifier") return;
  const component = { is: "likely", of: { is: "import", module: COMPONENTS, name: name.text } } as const;
  place.file.use("call", name.text, name.row + 1, place.scope, {
    is: "first",
    of: component,
    otherwise: expressionOf(of, place),
  });
}
