import type { SyntaxNode } from "./syntax-node.ts";

/** How annotations begin, and the types of their nodes. */
const MARKS: ReadonlySet<string> = new Set("@[#");
const TYPES: ReadonlySet<string> = new Set([
  "annotation",
  "marker_annotation",
  "attribute",
  "attribute_list",
  "decorator",
]);

/** A head in which annotations take more characters than this is written without their arguments. */
const MAX_CHARACTERS = 80;
const NAME = /^(?:@|#?\[)[\w$.:\\]{0,60}/;

/** Where a declaration starts after the annotations in its node. */
export function afterAnnotations(node: SyntaxNode): number {
  if (!MARKS.has(node.tree.text[node.start] ?? "")) return node.start;
  for (const child of partsOf(node)) if (!TYPES.has(child.type)) return child.start;
  return node.start;
}

/** The text of a head between two offsets of its file; long annotations without their arguments, as `@Component(…) class A`. */
export function headText(outer: SyntaxNode, start: number, end: number): string {
  const { text } = outer.tree;
  if (end - start <= MAX_CHARACTERS || !MARKS.has(text[start] ?? "")) return text.slice(start, end);
  const names: string[] = [];
  let declared = start;
  for (const part of partsOf(outer)) {
    if (part.start < declared || !TYPES.has(part.type) || part.end > end) break;
    names.push(withoutArguments(part.text));
    declared = part.end;
  }
  return declared - start <= MAX_CHARACTERS ? text.slice(start, end) : names.join(" ") + text.slice(declared, end);
}

function withoutArguments(annotation: string): string {
  const name = NAME.exec(annotation)?.[0];
  if (name === undefined || name.length === annotation.length) return annotation;
  return name.startsWith("@") ? `${name}(…)` : `${name}…]`;
}

/** Children of a declaration, with those of its modifiers in their place. */
function partsOf(node: SyntaxNode): SyntaxNode[] {
  return node.children.flatMap((own) => (own.type === "modifiers" ? own.children : [own]));
}
