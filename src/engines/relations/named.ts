/** What readers of languages share whose definitions in other files are known by name alone. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { lookUp, type Scope, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import type { Place } from "./walk.ts";
import type { UseKind } from "./types.ts";

/** Takes what a node itself says; its children are visited in any case. */
export type NodeReader = (node: SyntaxNode, found: Found, place: NamedPlace) => void;

/** How the files of a language bind names. */
export interface NameRules {
  /** Takes the uses of a node. */
  read: NodeReader;
  /** Whether what a node binds is visible only inside of it. */
  opens?: (node: SyntaxNode, place: NamedPlace) => boolean;
  /** Of the nodes that open a scope, those whose functions are members of a type. */
  types?: ReadonlySet<string>;
  /** A node in the scope of the one before it: the body behind the head of a function. */
  body?: string;
  /** Names of the functions that a node defines around itself. */
  functions?: (node: SyntaxNode, place: NamedPlace) => readonly (Pick<SyntaxNode, "text" | "row"> | undefined)[];
  /** Names of the parameters and variables that a node binds. */
  variables?: (node: SyntaxNode, place: NamedPlace) => readonly (SyntaxNode | undefined)[];
}

export interface NamedPlace extends Place {
  /** The names of the type around. */
  members: Scope | undefined;
}

/** Where a reader puts what it finds. */
export class Found {
  readonly #file: FileBuilder;
  /** A scope that binds nothing. */
  readonly #nowhere: Scope;

  constructor(file: FileBuilder) {
    this.#file = file;
    this.#nowhere = { ...file.top, names: new Map() };
  }

  /** A use of a member of some value: any definition of the name. */
  use(kind: UseKind, name: SyntaxNode | undefined): void {
    if (name && isName(name)) this.useName(kind, name.text, name.row + 1);
  }

  /** As `use`, of a name on a line. */
  useName(kind: UseKind, name: string, line: number): void {
    this.#use(kind, name, line, name, this.#nowhere);
  }

  /** A use of a name without a receiver: of the function that the scopes around bind, or else any definition of the name. */
  bare(kind: UseKind, name: SyntaxNode | undefined, { scope }: NamedPlace): void {
    if (name && isName(name)) this.#use(kind, name.text, name.row + 1, name.text, scope);
  }

  /** A use of a member of the type around (`self.name`). */
  own(kind: UseKind, name: SyntaxNode | undefined, { members }: NamedPlace): void {
    if (name && isName(name)) {
      // What is around the type has no part in it.
      const own = members ? { ...members, outer: undefined } : this.#nowhere;
      this.#use(kind, name.text, name.row + 1, name.text, own);
    }
  }

  /** A use of what the file may bind together with its table, as `key`: `M.name`. */
  keyed(kind: UseKind, name: SyntaxNode, key: string, { scope }: NamedPlace): void {
    if (!isName(name)) return;
    // A member of a table that the file does not define may be a field.
    if (kind !== "reference") this.#use(kind, name.text, name.row + 1, key, scope);
    else this.#file.reference(name.text, name.row + 1, scope, { is: "name", name: key, scope, otherwise: UNKNOWN });
  }

  #use(kind: UseKind, name: string, line: number, key: string, scope: Scope): void {
    const isVariable = lookUp(scope, key)?.is === "variable";
    // A function may be called by the name of a variable that its value is given to; what is handed over is the variable.
    const of = { is: "name", name: key, scope: isVariable && kind !== "reference" ? this.#nowhere : scope } as const;
    if (kind === "reference") this.#file.reference(name, line, scope, of);
    else this.#file.use(kind, name, line, scope, of);
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

const isName = ({ text }: SyntaxNode): boolean =>
  text !== "_" && /^[\p{L}_$][\p{L}\p{N}_$]*[?!]?$/u.test(text.slice(0, MAX_NAME));

/** Whether a name is that of a type: by custom, it begins with a capital. */
export const isType = (name: SyntaxNode | undefined): boolean => /^\p{Lu}/u.test(name?.text ?? "");

/** The text of a literal in quotes. */
export const quoted = (node: SyntaxNode | undefined): string | undefined =>
  /^["'](.*)["']$/s.exec(node?.text ?? "")?.[1];

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
