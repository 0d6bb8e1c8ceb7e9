import { cleanComment, limitDoc } from "./prose.ts";
import type { SyntaxNode } from "./syntax-node.ts";

/** What is needed of a node after its tree is gone. */
export type TriviumNode = Pick<SyntaxNode, "start" | "end" | "text">;

/** A comment or attribute of the file. */
export interface Trivium {
  node: TriviumNode;
  isAttribute: boolean;
}

interface Lead {
  /** Where the symbol starts with its attributes and decorators. */
  start: number;
  /** Where its doc comment starts; equal to the above if it has none. */
  docStart: number;
  doc: string | null;
}

/** Finds the comments and attributes directly before a symbol. `trivia` are in document order. */
export class TriviaIndex {
  readonly #text: string;
  readonly #trivia: readonly Trivium[];
  #last: { start: number; lead: Lead } | undefined;
  readonly #attributeDoc: ((text: string) => string | undefined) | undefined;

  constructor(
    text: string,
    trivia: readonly Trivium[],
    attributeDoc: ((text: string) => string | undefined) | undefined,
  ) {
    this.#text = text;
    this.#trivia = trivia;
    this.#attributeDoc = attributeDoc;
  }

  /** Attributes and comments that end on the line before `start` or on its own, without a blank line between. */
  before(start: number): Lead {
    // Names of one statement have the same lead.
    if (this.#last?.start !== start) this.#last = { start, lead: this.#find(start) };
    return this.#last.lead;
  }

  #find(start: number): Lead {
    const comments: string[] = [];
    const lead: Lead = { start, docStart: start, doc: null };
    for (let index = this.#lastBefore(start); index >= 0; index--) {
      const { node, isAttribute } = this.#trivia[index]!;
      if (node.end > lead.docStart) continue;
      if (!this.#touches(node.end, lead.docStart)) break;
      if (isAttribute) {
        if (comments.length === 0) lead.start = node.start;
        const doc = lead.doc === null ? this.#attributeDoc?.(node.text) : undefined;
        if (doc !== undefined) lead.doc = limitDoc(doc);
      } else {
        if (this.#trailsCode(node.start, node.end, lead.docStart)) break;
        const comment = node.text;
        if (node.start === 0 && comment.startsWith("#!")) break;
        comments.push(comment);
      }
      lead.docStart = node.start;
    }
    const cleaned = comments.length === 0 ? "" : cleanComment(comments.reverse());
    if (lead.doc === null && cleaned !== "") lead.doc = limitDoc(cleaned);
    return lead;
  }

  /** Only whitespace between, and no blank line. A line comment of some grammars ends behind its line break. */
  #touches(end: number, start: number): boolean {
    const between = this.#text.slice(end, start);
    if (between.trim() !== "") return false;
    const breaks = between.split("\n").length - 1;
    return breaks <= (this.#text[end - 1] === "\n" ? 0 : 1);
  }

  /** A comment after code belongs to that code, unless the symbol follows on the same line. */
  #trailsCode(start: number, end: number, next: number): boolean {
    const lineStart = this.#text.lastIndexOf("\n", start - 1) + 1;
    if (start === 0 || this.#text.slice(lineStart, start).trim() === "") return false;
    return this.#text.slice(end - 1, next).includes("\n");
  }

  /** The last trivium that starts before an offset. */
  #lastBefore(offset: number): number {
    let low = 0;
    let high = this.#trivia.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#trivia[middle]!.node.start < offset) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
