import { Buffer } from "node:buffer";
import { overLimit } from "../errors.ts";
import { DEFAULT_GIT_LIMITS } from "../limits.ts";
import { oidBytes } from "../object.ts";
import { pathFromBytes } from "../../../lib/path-text.ts";
import { compareNames, MODE_TREE, TreeCursor } from "./tree.ts";
import type { TreeStore } from "./tree-store.ts";

export interface TreeEntry {
  /** Relative to the root, with slashes; see {@link pathFromBytes} for names that are not plain text. */
  path: string;
  /** 0o100644, 0o100755, 0o120000 (symlink) or 0o160000 (submodule). */
  mode: number;
  oid: string;
}

export interface TreeChange extends TreeEntry {
  status: "added" | "modified" | "deleted";
  /** Values of the old side. `mode` and `oid` are those of the new side, or the old ones for a deletion. */
  oldOid?: string;
  oldMode?: number;
}

export interface WalkLimits {
  files?: number;
  treeDepth?: number;
}

/** A directory's path: always as bytes, and as text while it is plain. */
class Prefix {
  readonly text: string | undefined;
  readonly bytes: Uint8Array;

  constructor(text: string | undefined, bytes: Uint8Array) {
    this.text = text;
    this.bytes = bytes;
  }

  #join(cursor: TreeCursor, slash: boolean): Uint8Array {
    const name = cursor.name();
    const out = new Uint8Array(this.bytes.length + name.length + (slash ? 1 : 0));
    out.set(this.bytes);
    out.set(name, this.bytes.length);
    if (slash) out[out.length - 1] = 47;
    return out;
  }

  path(cursor: TreeCursor): string {
    if (cursor.plain && this.text !== undefined) return this.text + cursor.text();
    return pathFromBytes(this.#join(cursor, false));
  }

  down(cursor: TreeCursor): Prefix {
    const bytes = this.#join(cursor, true);
    const text = this.text !== undefined && cursor.plain ? Buffer.from(bytes).toString("latin1") : undefined;
    return new Prefix(text, bytes);
  }
}

const ROOT = new Prefix("", new Uint8Array(0));

class Budget {
  #files: number;
  readonly #depth: number;

  constructor(limits: WalkLimits) {
    this.#files = limits.files ?? DEFAULT_GIT_LIMITS.files;
    this.#depth = limits.treeDepth ?? DEFAULT_GIT_LIMITS.treeDepth;
  }

  file(): void {
    if (--this.#files < 0) throw overLimit("the tree lists too many files");
  }

  enter(depth: number): void {
    if (depth > this.#depth) throw overLimit(`directories nested deeper than ${this.#depth}`);
  }
}

/**
 * Yields every entry under `root` that is not a directory, in git's order (byte order of the paths).
 * @throws GitError CORRUPT for a missing or malformed tree, LIMIT beyond the limits
 */
export function* walkTree(trees: TreeStore, root: string, limits: WalkLimits = {}): Generator<TreeEntry> {
  const idBytes = oidBytes(trees.objectFormat);
  const budget = new Budget(limits);
  const stack: { cursor: TreeCursor; prefix: Prefix }[] = [
    { cursor: new TreeCursor(trees.require(root), idBytes), prefix: ROOT },
  ];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const { cursor, prefix } = top;
    if (!cursor.next()) {
      stack.pop();
    } else if (cursor.isTree) {
      budget.enter(stack.length);
      stack.push({ cursor: new TreeCursor(trees.require(cursor.oid()), idBytes), prefix: prefix.down(cursor) });
    } else {
      budget.file();
      yield { path: prefix.path(cursor), mode: cursor.mode, oid: cursor.oid() };
    }
  }
}

/**
 * Yields the changes from the old tree to the new one, in git's path order. Subtrees with the same id are skipped
 * unread. A file that becomes a directory is a deletion and additions; a rename is a deletion and an addition.
 * @throws GitError as {@link walkTree}
 */
export function* diffTrees(
  newTrees: TreeStore,
  newRoot: string,
  oldTrees: TreeStore,
  oldRoot: string,
  limits: WalkLimits = {},
): Generator<TreeChange> {
  if (newRoot === oldRoot) return;
  yield* diffLevel(newTrees, newRoot, oldTrees, oldRoot, ROOT, 0, new Budget(limits));
}

function* diffLevel(
  newTrees: TreeStore,
  newOid: string | undefined,
  oldTrees: TreeStore,
  oldOid: string | undefined,
  prefix: Prefix,
  depth: number,
  budget: Budget,
): Generator<TreeChange> {
  budget.enter(depth);
  const a = new TreeCursor(newOid === undefined ? EMPTY : newTrees.require(newOid), oidBytes(newTrees.objectFormat));
  const b = new TreeCursor(oldOid === undefined ? EMPTY : oldTrees.require(oldOid), oidBytes(oldTrees.objectFormat));
  let hasNew = a.next();
  let hasOld = b.next();
  while (hasNew || hasOld) {
    const order = !hasNew
      ? 1
      : !hasOld
        ? -1
        : compareNames(a.raw, a.nameStart, a.nameEnd, a.mode, b.raw, b.nameStart, b.nameEnd, b.mode);
    const side = order <= 0 ? a : b;
    if (side.mode === MODE_TREE) {
      const newChild = order <= 0 ? a.oid() : undefined;
      const oldChild = order >= 0 ? b.oid() : undefined;
      if (newChild !== oldChild) {
        yield* diffLevel(newTrees, newChild, oldTrees, oldChild, prefix.down(side), depth + 1, budget);
      }
    } else if (order < 0) {
      budget.file();
      yield { path: prefix.path(a), status: "added", mode: a.mode, oid: a.oid() };
    } else if (order > 0) {
      budget.file();
      const oid = b.oid();
      yield { path: prefix.path(b), status: "deleted", mode: b.mode, oid, oldOid: oid, oldMode: b.mode };
    } else {
      const oid = a.oid();
      const oldOid = b.oid();
      if (oid !== oldOid || a.mode !== b.mode) {
        budget.file();
        yield { path: prefix.path(a), status: "modified", mode: a.mode, oid, oldOid, oldMode: b.mode };
      }
    }
    if (order <= 0) hasNew = a.next();
    if (order >= 0) hasOld = b.next();
  }
}

const EMPTY = new Uint8Array(0);
