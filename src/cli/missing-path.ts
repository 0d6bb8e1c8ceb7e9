import { existsSync } from "node:fs";
import { join } from "node:path";
import { NotFoundError } from "../interface/questions/code-index.ts";
import { CliError, EXIT } from "./exit-codes.ts";
import { gitLine } from "./git/command.ts";
import type { Project } from "./project.ts";

/**
 * The error of a path that the index of a work tree does not have, where it can be said why: it is, or is in, a repository of its own, or it is
 * not in the work tree but in the last commit. Undefined for any other error.
 */
export async function explainMissing({ root, plainFolder }: Project, error: unknown): Promise<CliError | undefined> {
  if (!(error instanceof NotFoundError) || error.field !== "path" || plainFolder) return undefined;
  const path = error.value;
  const inner = innerRepository(root, path);
  if (inner !== undefined) return new CliError(EXIT.notFound, "NOT_FOUND", innerText(path, inner));
  if (existsSync(join(root, path))) return undefined;
  // Mode, type, id and path; no pattern is one to `ls-tree`.
  const [, type] = (await gitLine(root, ["ls-tree", "HEAD", "--", path]))?.split(" ") ?? [];
  if (type !== "blob") return undefined;
  const hint = `${path} is not in the work tree, but in the last commit: --ref HEAD reads that`;
  return new CliError(EXIT.notFound, "NOT_FOUND", hint);
}

/** The outermost folder at or above a path, below the root, that is a repository of its own, as a submodule is. */
export function innerRepository(root: string, path: string): string | undefined {
  const parts = path.split("/");
  const folders = parts.map((_, i) => parts.slice(0, i + 1).join("/"));
  return folders.find((folder) => existsSync(join(root, folder, ".git")));
}

/** Says that a path is in a repository of its own. */
export function innerText(path: string, inner: string): string {
  const place = path === inner ? inner : `${path} is in ${inner}, which`;
  return `${place} is a submodule or another repository: ask about it from its folder (cd ${inner})`;
}
