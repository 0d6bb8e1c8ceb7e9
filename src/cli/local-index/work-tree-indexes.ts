import { basename, resolve } from "node:path";
import type { Parameters, Request } from "../../contract/questions.ts";
import {
  type Answered,
  type Question,
  QuestionError,
  type RepoInfo,
  type Scope,
} from "../../interface/questions/code-index.ts";
import type { IndexingListener } from "../../interface/mcp/progress.ts";
import { endingWith, nearRepo } from "../../lib/near-repo.ts";
import { normalizeRepo } from "../../lib/repo.ts";
import type { Context } from "../context.ts";
import { realPath } from "../machine/platform.ts";
import { listWorkTrees } from "../indexing/cache.ts";
import type { ServedIndex } from "./late-index.ts";
import { WorkTreeIndex } from "./work-tree-index.ts";

/** Names of work trees that an error lists. */
const MAX_NAMED = 5;

/** A work tree that may be asked. */
export interface AllowedTree {
  root: string;
  /** Normalised identity of its repository; undefined if it has no remote. */
  repo: string | undefined;
}

interface NamedTree extends AllowedTree {
  /** The repository, or the folder where several work trees share that. */
  name: string;
  index: WorkTreeIndex;
}

/**
 * The indexes of several work trees. A question goes to the one that `repo` names, by repository, folder or the last part of either;
 * without `repo` to the default. Only that one's index is updated, so the others cost nothing.
 */
export class WorkTreeIndexes implements ServedIndex {
  readonly #context: Context;
  readonly #trees: NamedTree[];
  readonly #default: NamedTree | undefined;

  /** `defaultRoot`: the root of the default; the only tree if it is alone. `room`: see `WorkTreeIndex`. */
  constructor(
    context: Context,
    room: () => Promise<void>,
    trees: readonly AllowedTree[],
    defaultRoot: string | undefined,
  ) {
    this.#context = context;
    const names = trees.map(({ root, repo }) => repo ?? basename(root));
    const isShared = (name: string) => names.indexOf(name) !== names.lastIndexOf(name);
    this.#trees = trees.map((tree, i) => {
      const name = names[i] ?? "";
      return {
        ...tree,
        name: isShared(name) ? tree.root : name,
        index: new WorkTreeIndex({ ...context, cwd: tree.root }, room),
      };
    });
    this.#default = this.#trees.length === 1 ? this.#trees[0] : this.#trees.find(({ root }) => root === defaultRoot);
  }

  /** Requests that are not answered yet. */
  get waiting(): number {
    return this.#trees.reduce((sum, { index }) => sum + index.waiting, 0);
  }

  /** See `WorkTreeIndex.onIndexing`; of all work trees. */
  onIndexing(listener: IndexingListener): () => void {
    const stops = this.#trees.map(({ index }) => index.onIndexing(listener));
    return () => stops.forEach((stop) => stop());
  }

  /** Resolves when the requests made so far are answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#trees.map(({ index }) => index.settled()));
  }

  async ask<P extends Parameters, Answer extends object>(
    question: Question<P, Answer>,
    { repo, ref, overlay }: Scope,
    request: Request<P>,
  ): Promise<Answered<Answer>> {
    const { name, index } = this.#chosen(repo);
    const answer = await index.ask(question, { ref, overlay }, request);
    return { ...answer, indexes: answer.indexes.map((info) => Object.assign({}, info, { name })) };
  }

  /** The default's index is updated; the others are listed as they are. */
  async repos(): Promise<RepoInfo[]> {
    const known = new Map(listWorkTrees(this.#context.env).map((tree) => [tree.root, tree]));
    const listed = this.#trees.map(async (tree): Promise<RepoInfo> => {
      const { name, root, index } = tree;
      if (tree === this.#default) {
        const [info] = await index.repos();
        if (info) return { ...info, name };
      }
      const state = known.get(root);
      if (!state) return { name, gitSha: null, indexedAtMs: 0, isWorkTree: true, fileCount: 0, isPending: true };
      const { head, indexedAtMs, fileCount } = state;
      return { name, gitSha: head, indexedAtMs, isWorkTree: true, fileCount };
    });
    return Promise.all(listed);
  }

  /** Updates the default's index ahead of the first request, which reports any failure. */
  async warmUp(): Promise<void> {
    await this.#default?.index.warmUp();
  }

  #chosen(repo: string | undefined): NamedTree {
    if (repo === undefined) {
      if (this.#default) return this.#default;
      throw new QuestionError("INVALID_SELECTOR", `repo: say which of the work trees to ask: ${this.#names()}`);
    }
    const folder = folderOf(repo);
    const meant = this.#trees.filter((tree) => tree.root === folder || isMeant(tree, repo));
    const chosen = meant.find((tree) => tree === this.#default) ?? meant[0];
    if (chosen && (meant.length === 1 || chosen === this.#default)) return chosen;
    if (chosen) {
      const text = `repo: several work trees are called ${repo}; name the folder of one: ${this.#names(meant)}`;
      throw new QuestionError("INVALID_SELECTOR", text);
    }
    const near = nearRepo(
      repo,
      this.#trees.map(({ name }) => name),
    );
    const hint = near === undefined ? `; known: ${this.#names()}` : `; did you mean ${near}?`;
    throw new QuestionError("NO_WORKSPACE", `repo: ${repo} is not among the work trees of this server${hint}`);
  }

  #names(trees: readonly NamedTree[] = this.#trees): string {
    const more = trees.length - MAX_NAMED;
    const names = trees.slice(0, MAX_NAMED).map(({ name }) => name);
    return [...names, ...(more > 0 ? [`${more} more, see list_repos`] : [])].join(", ");
  }
}

/** `repo` as the path of a folder, in the form of the roots: without links, and on Windows in the case of the file system. */
function folderOf(repo: string): string {
  const folder = resolve(repo);
  try {
    return realPath(folder);
  } catch {
    return folder;
  }
}

/** Whether `repo` names a tree: its name or repository, or the last parts of that or of its folder. */
function isMeant({ name, root, repo: identity }: NamedTree, repo: string): boolean {
  if (repo === name) return true;
  const folder = root.replaceAll("\\", "/");
  const known = identity === undefined ? [folder] : [identity, folder];
  const short = repo.replaceAll("\\", "/");
  return (identity !== undefined && normalizeRepo(repo) === identity) || endingWith(short, known).length > 0;
}
