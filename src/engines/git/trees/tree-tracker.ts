import { overLimit } from "../errors.ts";
import type { GitLimits } from "../limits.ts";
import { oidBytes } from "../object.ts";
import { TreeCursor } from "./tree.ts";
import type { TreeStore } from "./tree-store.ts";

/** Tracks which trees of a root are still missing. Reads each tree once, in any order. */
export class TreeTracker {
  readonly #trees: TreeStore;
  readonly #idBytes: number;
  readonly #seen = new Set<string>();
  readonly #absent = new Set<string>();
  #rootKnown = false;

  constructor(trees: TreeStore) {
    this.#trees = trees;
    this.#idBytes = oidBytes(trees.objectFormat);
  }

  get complete(): boolean {
    return this.#rootKnown && this.#absent.size === 0;
  }

  missing(): string[] {
    return [...this.#absent];
  }

  /** Starts from the commit's tree. */
  setRoot(oid: string): void {
    this.#rootKnown = true;
    this.#visit([oid]);
  }

  /** Records that the store now contains `oid`. */
  arrived(oid: string): void {
    if (!this.#absent.delete(oid)) return;
    this.#seen.delete(oid);
    this.#visit([oid]);
  }

  #visit(queue: string[]): void {
    for (let oid = queue.pop(); oid !== undefined; oid = queue.pop()) {
      if (this.#seen.has(oid)) continue;
      this.#seen.add(oid);
      const raw = this.#trees.get(oid);
      if (raw === undefined) {
        this.#absent.add(oid);
        continue;
      }
      const cursor = new TreeCursor(raw, this.#idBytes);
      while (cursor.next()) if (cursor.isTree) queue.push(cursor.oid());
    }
  }
}

/**
 * Bounds the expansion of a tree before it is walked: a few small objects can describe exponentially many paths.
 * Each tree is read once. @throws GitError LIMIT, CORRUPT for a tree that contains itself or is missing
 */
export function checkExpansion(trees: TreeStore, root: string, limits: GitLimits): void {
  const idBytes = oidBytes(trees.objectFormat);
  const known = new Map<string, { files: number; depth: number }>();
  const stack = [{ oid: root, cursor: new TreeCursor(trees.require(root), idBytes), files: 0, depth: 0 }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    if (top.cursor.next()) {
      if (!top.cursor.isTree) {
        top.files++;
        continue;
      }
      const child = top.cursor.oid();
      const done = known.get(child);
      if (done === undefined) {
        if (stack.length > limits.treeDepth) throw overLimit(`directories nested deeper than ${limits.treeDepth}`);
        stack.push({ oid: child, cursor: new TreeCursor(trees.require(child), idBytes), files: 0, depth: 0 });
        continue;
      }
      top.files += done.files;
      top.depth = Math.max(top.depth, done.depth + 1);
    } else {
      known.set(top.oid, { files: top.files, depth: top.depth });
      stack.pop();
      const parent = stack.at(-1);
      if (parent !== undefined) {
        parent.files += top.files;
        parent.depth = Math.max(parent.depth, top.depth + 1);
      }
    }
    if (top.files > limits.files) throw overLimit(`the tree lists more than ${limits.files} files`);
    if (top.depth > limits.treeDepth) throw overLimit(`directories nested deeper than ${limits.treeDepth}`);
  }
}
