import type { LoadedGrammar, TreeSitterCore } from "./core.ts";

const NODE_BYTES = 20;
/** Start of the part of a text that a tree covers. */
export interface Origin {
  /** In UTF-16 code units. */
  offset: number;
  row: number;
}

export const START_OF_TEXT: Origin = { offset: 0, row: 0 };

export const ERROR_TYPE_ID = 65535;

/** A parsed tree, read through the core's own functions: no wrapper objects but the nodes that are asked for. */
export class SyntaxTree {
  readonly grammar: LoadedGrammar;
  /** The text that was parsed (or that its blanked copy was made from); offsets are the same. */
  readonly text: string;
  readonly #core: TreeSitterCore;
  readonly #address: number;
  readonly #origin: Origin;

  /** @param origin where the parsed part begins in `text`, at the begin of a row */
  constructor(core: TreeSitterCore, address: number, grammar: LoadedGrammar, text: string, origin: Origin) {
    this.#core = core;
    this.#address = address;
    this.#origin = origin;
    this.grammar = grammar;
    this.text = text;
  }

  get root(): SyntaxNode {
    this.#core.exports["ts_tree_root_node_wasm"]!(this.#address);
    return this.readResult()!;
  }

  /** Every node of one of the types, in document order, outer before inner. */
  nodesOf(typeIds: readonly number[]): SyntaxNode[] {
    const { root } = this;
    const list = this.#core.exports["malloc"]!(typeIds.length * 4);
    this.#core.words.set(typeIds, list >>> 2);
    this.#writeNode(root);
    // Four zeros: from the first row and column to the last.
    this.#core.exports["ts_node_descendants_of_type_wasm"]!(this.#address, list, typeIds.length, 0, 0, 0, 0);
    this.#core.exports["free"]!(list);
    return this.readList();
  }

  /** Calls a function of the core about `node`. */
  call(name: string, node: SyntaxNode, argument = 0): number {
    this.#writeNode(node);
    return this.#core.exports[name]!(this.#address, argument);
  }

  /** The node that the last call left in the transfer buffer. */
  readResult(): SyntaxNode | undefined {
    return this.#readNode(this.#core.transfer);
  }

  /** Row that the last call left in the transfer buffer. */
  readRow(): number {
    return this.#core.words[this.#core.transfer >>> 2]! + this.#origin.row;
  }

  /** Offset in the whole text of an offset in the parsed part. */
  offsetOf(index: number): number {
    return index + this.#origin.offset;
  }

  /** The list of nodes that the last call returned after its count; frees it. */
  readList(): SyntaxNode[] {
    const heap = this.#core.words;
    const count = heap[this.#core.transfer >>> 2]!;
    const address = heap[(this.#core.transfer >>> 2) + 1]!;
    const nodes: SyntaxNode[] = [];
    for (let index = 0; index < count; index++) nodes.push(this.#readNode(address + index * NODE_BYTES)!);
    if (count > 0) this.#core.exports["free"]!(address);
    return nodes;
  }

  #writeNode(node: SyntaxNode): void {
    const heap = this.#core.words;
    const at = this.#core.transfer >>> 2;
    heap[at] = node.id;
    heap[at + 1] = node.start - this.#origin.offset;
    heap[at + 2] = node.row - this.#origin.row;
    heap[at + 3] = node.column;
    heap[at + 4] = node.alias;
  }

  #readNode(address: number): SyntaxNode | undefined {
    const heap = this.#core.words;
    const at = address >>> 2;
    const id = heap[at]!;
    if (id === 0) return undefined;
    const { offset, row } = this.#origin;
    return new SyntaxNode(this, id, heap[at + 1]! + offset, heap[at + 2]! + row, heap[at + 3]!, heap[at + 4]!);
  }
}

/** A node of a {@link SyntaxTree}. Offsets are UTF-16 code units, rows are 0-based. Valid until the next parse. */
export class SyntaxNode {
  readonly tree: SyntaxTree;
  readonly id: number;
  readonly start: number;
  readonly row: number;
  readonly column: number;
  readonly alias: number;
  #cachedType = -1;
  #cachedEnd = -1;

  constructor(tree: SyntaxTree, id: number, start: number, row: number, column: number, alias: number) {
    this.tree = tree;
    this.id = id;
    this.start = start;
    this.row = row;
    this.column = column;
    this.alias = alias;
  }

  get typeId(): number {
    if (this.#cachedType === -1) this.#cachedType = this.tree.call("ts_node_symbol_wasm", this);
    return this.#cachedType;
  }

  get type(): string {
    return this.typeId === ERROR_TYPE_ID ? "ERROR" : (this.tree.grammar.types[this.typeId] ?? "");
  }

  get end(): number {
    if (this.#cachedEnd === -1) this.#cachedEnd = this.tree.offsetOf(this.tree.call("ts_node_end_index_wasm", this));
    return this.#cachedEnd;
  }

  /** Row of the node's end, which may be column 0 of the row after its last character. */
  get endRow(): number {
    this.tree.call("ts_node_end_point_wasm", this);
    return this.tree.readRow();
  }

  get text(): string {
    return this.tree.text.slice(this.start, this.end);
  }

  get hasError(): boolean {
    return this.tree.call("ts_node_has_error_wasm", this) === 1;
  }

  get parent(): SyntaxNode | undefined {
    this.tree.call("ts_node_parent_wasm", this);
    return this.tree.readResult();
  }

  get nextNamedSibling(): SyntaxNode | undefined {
    this.tree.call("ts_node_next_named_sibling_wasm", this);
    return this.tree.readResult();
  }

  get children(): SyntaxNode[] {
    this.tree.call("ts_node_children_wasm", this);
    return this.tree.readList();
  }

  get namedChildren(): SyntaxNode[] {
    this.tree.call("ts_node_named_children_wasm", this);
    return this.tree.readList();
  }

  namedChild(index: number): SyntaxNode | undefined {
    this.tree.call("ts_node_named_child_wasm", this, index);
    return this.tree.readResult();
  }

  /** The node in a field; `undefined` if there is none or the grammar has no such field. */
  field(name: string): SyntaxNode | undefined {
    const id = this.tree.grammar.fieldIds.get(name);
    if (id === undefined) return undefined;
    this.tree.call("ts_node_child_by_field_id_wasm", this, id);
    return this.tree.readResult();
  }

  /** Every node in a field that may repeat. */
  fields(name: string): SyntaxNode[] {
    const id = this.tree.grammar.fieldIds.get(name);
    if (id === undefined) return [];
    this.tree.call("ts_node_children_by_field_id_wasm", this, id);
    return this.tree.readList();
  }

  /** First named child of one of the types. */
  childOfType(...types: string[]): SyntaxNode | undefined {
    return this.namedChildren.find((child) => types.includes(child.type));
  }
}
