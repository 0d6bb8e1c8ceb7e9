import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { endingWith } from "../../lib/near-repo.ts";
import { normalizeRepo } from "../../lib/repo.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { listWorkTrees } from "../indexing/cache.ts";
import { findProject, findWorkTreeProject } from "../project.ts";
import type { AllowedTree } from "./work-tree-indexes.ts";

export interface AllowedOptions {
  /** Folders of work trees, or repositories that have local indexes. */
  repos?: string[];
  /** Every work tree that has a local index. */
  all?: boolean;
}

/** The identity of a repository without a remote is `local/` and its folder. */
const WITHOUT_REMOTE = "local/";

/**
 * The work trees that questions may be asked of, the current one first, without repetitions. Undefined without options: then it is the
 * current one alone. Throws `CliError` for a name without a work tree.
 */
export async function allowedTrees(
  context: Context,
  { repos = [], all = false }: AllowedOptions,
): Promise<{ trees: AllowedTree[]; current: string | undefined } | undefined> {
  if (repos.length === 0 && !all) return undefined;
  const current = await findWorkTreeProject(context);
  const known = listWorkTrees(context.env).map(({ root, identity }): AllowedTree => ({
    root,
    repo: identity === undefined || identity.startsWith(WITHOUT_REMOTE) ? undefined : identity,
  }));
  const trees: AllowedTree[] = current ? [current] : [];
  for (const name of repos) trees.push(...(await treesOf(context, name, known)));
  if (all) trees.push(...known);
  const byRoot = new Map(trees.map(({ root, repo }) => [root, { root, repo }]));
  if (byRoot.size > 0) return { trees: [...byRoot.values()], current: current?.root };
  throw new CliError(
    EXIT.usage,
    "NO_INDEX",
    "--all: no work tree has a local index; run `codectx search` in one, or name folders with --repos",
  );
}

async function treesOf(context: Context, name: string, known: readonly AllowedTree[]): Promise<AllowedTree[]> {
  const folder = resolve(context.cwd, name);
  if (existsSync(folder) && statSync(folder).isDirectory()) {
    const { root, repo } = await findProject({ ...context, cwd: folder });
    return [{ root, repo }];
  }
  const identity = normalizeRepo(name);
  const found = known.filter(
    ({ repo }) => repo !== undefined && (repo === identity || endingWith(name, [repo]).length > 0),
  );
  if (found.length > 0) return found;
  throw new CliError(
    EXIT.usage,
    "NO_INDEX",
    `--repos: ${name} is neither a folder nor a repository with a local index: see \`codectx cache list\``,
  );
}
