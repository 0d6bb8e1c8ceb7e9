/** What readers of languages without rules of scope share. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { FileBuilder } from "./file-builder.ts";
import type { UseKind } from "./types.ts";

/** Takes what a node itself says; its children are visited in any case. */
export type NodeReader = (node: SyntaxNode, found: Found) => void;

/** Where a reader puts what it finds. */
export class Found {
  readonly #file: FileBuilder;

  constructor(file: FileBuilder) {
    this.#file = file;
  }

  use(kind: UseKind, name: SyntaxNode | undefined): void {
    if (!name || !/^[\p{L}_$][\p{L}\p{N}_$]*[?!]?$/u.test(name.text.slice(0, MAX_NAME))) return;
    this.useName(kind, name.text, name.row + 1);
  }

  /** Nothing is bound at the top, so that it may be any definition of the name. */
  useName(kind: UseKind, name: string, line: number): void {
    this.#file.use(kind, name, line, this.#file.top, { is: "name", name, scope: this.#file.top });
  }

  /** Classes that a clause names, each by the last part of its name. */
  inherits(nodes: readonly SyntaxNode[]): void {
    for (const node of nodes) this.use("inherit", lastName(node));
  }

  imports(module: string | undefined, node: SyntaxNode, name = "*"): void {
    if (module !== undefined && module !== "") this.#file.imports(module, node.row + 1, name);
  }
}

const MAX_NAME = 200;
const NAME = /(?:identifier|constant|alias|word|name)$/;
/** Steps into a name: longer ones are not followed. */
export const MAX_STEPS = 20;

/** The last part of a name with a path or arguments: `C` of `a.b.C<T>`. */
export function lastName(node: SyntaxNode | undefined): SyntaxNode | undefined {
  let at = node;
  for (let steps = 0; at && steps < MAX_STEPS; steps++) {
    const parts: SyntaxNode[] = at.namedChildren.filter(
      ({ type }) => !/(?:arguments|argument_list|suffix)$/.test(type),
    );
    const next = parts.findLast(({ type }) => NAME.test(type) || /(?:type|resolution|invocation)$/.test(type));
    if (!next) break;
    at = next;
  }
  return at && NAME.test(at.type) ? at : undefined;
}
