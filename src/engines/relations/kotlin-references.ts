/** Functions and classes of Kotlin that are named without a call. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { Expression } from "./expressions.ts";
import { memberCalled } from "./kotlin-expressions.ts";
import { type Place, unqualified } from "./kotlin-names.ts";

/** Numbers of arguments of functions that are handed over, the usual ones first. */
const COUNTS = [1, 0, 2, 3];

/** Characters at the end of an expression that are looked at for its last name. */
const MAX_TAIL = 100;

/** Records `::f`, `::C`, `x::f` or `C::f`. */
export function reference(node: SyntaxNode, place: Place): void {
  if (node.type === "navigation_expression" && !/::\s*\w+$/.test(node.text.slice(-MAX_TAIL))) return;
  const { file, scope } = place;
  const parts = node.namedChildren;
  const [first, second] = parts;
  const name = second ?? first;
  if (!first || name?.type !== "identifier" || parts.length > 2) return;
  const keyed = COUNTS.map((count) =>
    second ? memberCalled(first, name.text, `/${count}`, place) : unqualified(name.text, `/${count}`, place),
  );
  const of = keyed.reduceRight((otherwise, each): Expression => ({ is: "first", of: each, otherwise }));
  if (!second && /^\p{Lu}/u.test(name.text)) file.use("construct", name.text, name.row + 1, scope, of);
  else file.reference(name.text, name.row + 1, scope, of);
}
