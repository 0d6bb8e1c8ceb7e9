/** Uses of Ruby, by name. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Found, lastName, type NodeReader } from "./named.ts";

export const rubyNode: NodeReader = (node, found) => {
  switch (node.type) {
    case "superclass":
      found.inherits([node]);
      return;
    case "method":
    case "singleton_method":
      bareCalls(node, found);
      return;
    case "call":
      call(node, found);
  }
};

function call(node: SyntaxNode, found: Found): void {
  const method = node.field("method");
  const receiver = node.field("receiver");
  const args = node.field("arguments")?.namedChildren ?? [];
  const [first] = args;
  const name = method?.text ?? "";
  if (name === "new" && receiver && /^(?:constant|scope_resolution)$/.test(receiver.type))
    found.use("construct", lastName(receiver));
  else if (!receiver && /^(?:include|extend|prepend)$/.test(name)) found.inherits(args);
  else if (!receiver && /^(?:require|require_relative|load)$/.test(name) && first?.type === "string") {
    const path = first.childOfType("string_content")?.text;
    found.imports(name === "require_relative" && path?.startsWith(".") === false ? `./${path}` : path, node);
  } else found.use("call", method);
}

/** Calls without receiver and arguments are written as variables are: what the method does not bind is a call. */
function bareCalls(method: SyntaxNode, found: Found): void {
  const bound = new Set<string>();
  const bare: SyntaxNode[] = [];
  const left = [method.field("parameters"), method.field("body")].filter((each) => each !== undefined);
  for (let node = left.pop(); node; node = left.pop())
    switch (node.type) {
      case "identifier":
        bare.push(node);
        break;
      case "method":
      case "singleton_method":
        break;
      case "call":
        left.push(...[node.field("receiver"), node.field("arguments"), node.field("block")].filter((each) => !!each));
        break;
      case "method_parameters":
      case "block_parameters":
      case "lambda_parameters":
      case "left_assignment_list":
      case "exception_variable":
        for (const each of node.namedChildren) {
          const name = each.field("name") ?? (each.type === "identifier" ? each : each.childOfType("identifier"));
          if (name) bound.add(name.text);
        }
        break;
      case "assignment":
      case "operator_assignment": {
        const target = node.field("left");
        const value = node.field("right");
        if (target?.type === "identifier") bound.add(target.text);
        else if (target) left.push(target);
        if (value) left.push(value);
        break;
      }
      case "for": {
        const target = node.field("pattern");
        if (target?.type === "identifier") bound.add(target.text);
        left.push(...node.namedChildren.filter(({ id }) => id !== target?.id));
        break;
      }
      default:
        left.push(...node.namedChildren);
    }
  for (const node of bare.reverse()) if (!bound.has(node.text)) found.use("call", node);
}
