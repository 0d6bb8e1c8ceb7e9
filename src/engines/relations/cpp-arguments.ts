/** How many arguments functions of C++ take, and how many calls pass. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { ANY_NUMBER, takes } from "./overload-sets.ts";

/** How many arguments a function or macro takes, by its list of parameters. */
export function takesOf(parameters: SyntaxNode | undefined): number {
  let [least, most] = [0, 0];
  for (const each of parameters?.children ?? []) {
    // `int f(void)`
    if (each.type === "parameter_declaration" && each.text === "void") continue;
    if (each.type === "..." || each.type === "variadic_parameter_declaration") most = ANY_NUMBER;
    else if (each.type === "optional_parameter_declaration") most++;
    else if (each.type === "parameter_declaration" || each.type === "identifier") {
      least++;
      most++;
    }
  }
  return takes(least, most);
}

/** How many arguments a call has; undefined where a pack is expanded. */
export function argumentsOf(call: SyntaxNode): number | undefined {
  const given = call.field("arguments")?.namedChildren.filter(({ type }) => type !== "comment");
  if (!given || given.some(({ type }) => type === "parameter_pack_expansion")) return undefined;
  return given.length;
}
