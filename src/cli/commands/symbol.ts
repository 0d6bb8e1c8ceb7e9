import { PARSER_VERSION } from "../../parsing/version.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { findSymbols, similarNames, worktreeId } from "../index/query.ts";
import { IndexStore } from "../index/store.ts";
import { findProject, type Project } from "../project.ts";
import { formatCount } from "../ui.ts";

export interface SymbolOptions {
  kind?: string;
  limit: number;
}

/** `codectx symbol <name>`: where it is defined, from the local index. */
export async function symbol(context: Context, name: string, options: SymbolOptions): Promise<void> {
  const project = await findProject(context);
  const { store, worktree } = openIndex(project);
  try {
    const { symbols, truncated } = findSymbols(store, worktree, { name, kind: options.kind, limit: options.limit });
    if (symbols.length === 0) {
      const similar = similarNames(store, worktree, name);
      const hint = similar.length === 0 ? "" : `; similar: ${similar.join(", ")}`;
      throw new CliError(EXIT.notFound, "SYMBOL_NOT_FOUND", `no symbol named ${name} in the local index${hint}`, {
        details: { similar },
      });
    }
    const { ui } = context;
    ui.result({ symbols: symbols.map(({ path, ...rest }) => ({ path, ...rest })), truncated }, () => {
      const lines = symbols.map(
        (s) =>
          `${ui.style("cyan", `${s.path}:${s.startLine}`)}  ${ui.style("dim", s.kind)} ${ui.style("bold", s.qualifiedName)}  ${s.signature}`,
      );
      return truncated ? [...lines, `(the first ${formatCount(options.limit)}; --limit shows more)`] : lines;
    });
  } finally {
    store.close();
  }
}

/** The index of the work tree, for reading. */
export function openIndex(project: Project): { store: IndexStore; worktree: number } {
  const store = IndexStore.openForReading(project.directory, PARSER_VERSION);
  const worktree = store && worktreeId(store, project.root);
  if (store && worktree !== undefined) return { store, worktree };
  store?.close();
  throw new CliError(
    EXIT.notFound,
    "NO_INDEX",
    "this work tree has no local index yet: run `codectx pull` or `codectx index --local` first",
  );
}
