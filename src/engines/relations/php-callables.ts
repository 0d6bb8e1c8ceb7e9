/** Functions and methods of PHP that are handed over by their names. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { expressionOf, functionKey, named, type Place, scopeOf, splitName } from "./php-expressions.ts";
import { MAX_PARAMETERS } from "./types.ts";

/** Characters of a pair that hands a method over. */
const MAX_PAIR = 200;
const PAIR = /^(?:array\s?\(|\[)\s*(\$?[\w\\]+)(?:::class)?\s*,\s*["'][A-Za-z_]\w*["']\s*,?\s*[\])]$/;

/** A method that is handed over as a pair: `[$this, 'f']`, `[C::class, 'f']`. */
export function methodPair(node: SyntaxNode, place: Place): void {
  if (node.end - node.start > MAX_PAIR || !PAIR.test(node.text)) return;
  const [first, second] = node.namedChildren;
  const [of, method] = [first?.namedChild(0), second?.namedChild(0)];
  const name = method && plainText(method);
  const owner = of?.type === "class_constant_access_expression" ? of.namedChild(0) : undefined;
  if (!method || name === undefined || (!owner && of?.type !== "variable_name")) return;
  const object = owner ? scopeOf(owner, place) : expressionOf(of as SyntaxNode, place);
  place.file.reference(name, method.row + 1, place.scope, { is: "member", of: object, name: functionKey(name) });
}

/** Functions that call one by its name. */
export const CALLING =
  /^(?:array_(?:map|filter|walk|reduce)|u[ak]?sort|call_user_func(?:_array)?|preg_replace_callback|register_shutdown_function|set_(?:error|exception)_handler|spl_autoload_register|ob_start|add_(?:action|filter|shortcode))$/;

/** Functions whose names are given to one that calls them: `usort($list, 'compare')`. Such a name is a full one. */
export function functionNames(node: SyntaxNode, place: Place): void {
  for (const each of node.field("arguments")?.namedChildren.slice(0, MAX_PARAMETERS) ?? []) {
    const text = each.namedChild(0);
    const full = text?.type === "string" ? plainText(text) : undefined;
    if (text && full !== undefined)
      place.file.reference(splitName(full).name, text.row + 1, place.scope, named(`\\${full}`, place, functionKey));
  }
}

/** The text of a string, if it may be the name of a function. */
const plainText = (node: SyntaxNode): string | undefined =>
  /^["']\\{0,2}([A-Za-z_][\w\\]*)["']$/.exec(node.text.slice(0, MAX_PAIR))?.[1]?.replaceAll("\\\\", "\\");
