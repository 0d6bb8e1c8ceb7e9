import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { findSymbols, similarNames } from "../index/query.ts";
import { findProject } from "../project.ts";
import { noIndex, readIndex } from "../reading.ts";
import { formatCount } from "../ui.ts";

export interface SymbolOptions {
  kind?: string;
  limit: number;
}

/** `codectx symbol <name>`: where it is defined, from the local index. */
export async function symbol(context: Context, name: string, options: SymbolOptions): Promise<void> {
  const project = await findProject(context);
  const answer = await readIndex(context, project, async (store, worktree) => {
    const found = await findSymbols(store, worktree, { name, kind: options.kind, limit: options.limit });
    return { ...found, similar: found.symbols.length === 0 ? await similarNames(store, worktree, name) : [] };
  });
  if (!answer) throw noIndex();
  const { symbols, truncated, similar } = answer;
  if (symbols.length === 0) {
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
}
