/** Methods of Ruby that are called, and those that symbols name. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { Expression } from "./expressions.ts";
import type { Reader } from "./ruby-classes.ts";
import { calledOn, ownMember, textOf } from "./ruby-expressions.ts";

const NAME = /^[\p{L}_][\p{L}\p{N}_]{0,200}[?!]?$/u;

/** Records a call of the method that a name means. */
export function use(name: SyntaxNode, of: Expression, { file, scope }: Reader, text = name.text): void {
  // An unbound name may mean any definition of that name.
  const meant: Expression = of.is === "unknown" ? { is: "name", name: "", scope: file.top } : of;
  if (NAME.test(text)) file.use("call", text, name.row + 1, scope, meant);
}

/** Methods that call the method that a symbol names. */
const SENDING = /^(?:send|__send__|public_send|try|try!|method|public_method)$/;
/** Methods of frameworks that are given the names of methods of the class which they call later. */
const CALLBACK =
  /^(?:(?:prepend_|append_|skip_)?(?:before|after|around)_\w+|validates?|validate_each|rescue_from|helper_method)$/;
/** Their options that name methods. */
const OPTION = /^(?:if|unless|with)$/;

/** Methods that the arguments of a call name: `send(:f)`, `before_action :f, if: :g`. */
export function named(args: SyntaxNode, name: string, receiver: SyntaxNode | undefined, place: Reader): void {
  if (SENDING.test(name)) {
    const symbol = args.namedChild(0);
    const text = symbol?.type === "simple_symbol" ? textOf(symbol) : undefined;
    if (symbol && text !== undefined)
      use(symbol, receiver ? calledOn(receiver, text, place) : ownMember(text, place), place, text);
  }
  if (receiver || !place.body || place.method !== undefined || !CALLBACK.test(name)) return;
  for (const each of args.namedChildren) {
    const isOption = each.type === "pair" && OPTION.test(each.field("key")?.text ?? "");
    // What is validated are attributes.
    const symbol = isOption ? each.field("value") : name === "validates" ? undefined : each;
    const text = symbol?.type === "simple_symbol" ? textOf(symbol) : undefined;
    if (symbol && text !== undefined) use(symbol, ownMember(text, { ...place, level: "-" }), place, text);
  }
}
