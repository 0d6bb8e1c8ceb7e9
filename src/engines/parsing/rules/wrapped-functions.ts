import type { SyntaxNode } from "../syntax-node.ts";

/** Functions that return the function they are given, or a wrapper of it. */
const WRAPPERS =
  /^(?:use\w*Callback|use(?:Effect|Stable)?Event|use(?:Debounce|Throttle|Memoized|Persist)Fn|memo|memoize|forwardRef|observer|debounce|throttle|once|cache|\w*[hH]andler|(?:wrap|catch)Async)$/;
const FUNCTION_TYPES: ReadonlySet<string> = new Set(["arrow_function", "function_expression", "generator_function"]);
/** Wrappers around one another that are followed. */
const MAX_DEPTH = 4;

/** The function that a value of JavaScript is, also in calls of wrappers, such as `useCallback(() => {…}, [])`. */
export function functionOf(value: SyntaxNode | undefined): SyntaxNode | undefined {
  let at = value;
  for (let depth = 0; at && depth < MAX_DEPTH; depth++) {
    if (FUNCTION_TYPES.has(at.type)) return at;
    if (!isWrapper(at)) return undefined;
    at = at.field("arguments")?.namedChild(0);
  }
  return undefined;
}

/** What holds the value of the wrappers around a function: a declarator, a field, a pair, an assignment. Undefined without wrappers. */
export function wrappedHolder(node: SyntaxNode): SyntaxNode | undefined {
  let { parent } = node;
  let at = node;
  for (let depth = 0; depth < MAX_DEPTH && parent?.type === "arguments"; depth++) {
    const call = parent.parent;
    if (!call || !isWrapper(call) || parent.namedChild(0)?.id !== at.id) return undefined;
    at = call;
    ({ parent } = call);
  }
  return at.id === node.id ? undefined : parent;
}

function isWrapper(node: SyntaxNode): boolean {
  const called = node.type === "call_expression" ? node.field("function") : undefined;
  const isOfName = called?.type === "member_expression" && called.field("object")?.type === "identifier";
  const name = isOfName ? called.field("property") : called;
  return name !== undefined && /^(?:property_)?identifier$/.test(name.type) && WRAPPERS.test(name.text);
}
