import { type Found, type GrammarRules, named, type Rule } from "./rule.ts";

/** Assignments of the script itself: not those in functions, branches or before a command. */
const assignment: Rule = (node, scope) => {
  if (scope.local) return undefined;
  const name = node.field("name");
  const parent = node.parent;
  const isDeclaration = parent?.type === "declaration_command";
  const place = isDeclaration ? parent.parent : parent;
  if (name?.type !== "variable_name" || place?.type !== "program") return undefined;
  const isConstant = isDeclaration && /^(?:readonly|declare\s+-\w*r)\b/.test(parent.text);
  return {
    kind: isConstant ? "constant" : "variable",
    name: name.text,
    leaf: true,
    ...(isDeclaration ? { outer: parent } : {}),
  };
};

/** `alias name=command`, several in one command too. */
const alias: Rule = (node, scope) => {
  if (scope.local || node.field("name")?.text !== "alias") return undefined;
  return node.fields("argument").flatMap((argument): Found[] => {
    const name = /^["']?([^\s="'$-][^\s="'$]*)=/.exec(argument.text)?.[1];
    if (name === undefined) return [];
    return [{ kind: "function", name, outer: argument, headStart: node.start, headEnd: argument.end, leaf: true }];
  });
};

export const bashRules: GrammarRules = {
  separator: ".",
  comments: ["comment"],
  symbols: { function_definition: named("function"), variable_assignment: assignment, command: alias },
};
