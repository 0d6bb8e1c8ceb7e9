import { join } from "node:path";
import { SYMBOL_KINDS } from "../../parsing/types.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { type RefOption, withLocalIndex, withoutRevision } from "../local-search.ts";
import { showPaged } from "../pager.ts";
import { formatCount } from "../ui.ts";

export interface SymbolOptions extends RefOption {
  kind?: string;
  limit: number;
}

const MAX_SIMILAR = 5;

/**
 * `codectx symbol <name>`: finds definitions by name or by qualified name in any language's syntax, else by prefix.
 * The best matches come first: code before tests and documentation.
 */
export async function symbol(context: Context, name: string, { kind, limit, ref }: SymbolOptions): Promise<void> {
  if (name.trim() === "") throw new CliError(EXIT.usage, "NO_NAME", "the name is empty");
  if (kind !== undefined && !(SYMBOL_KINDS as readonly string[]).includes(kind)) {
    throw new CliError(EXIT.usage, "UNKNOWN_KIND", `no kind named ${kind}: ${SYMBOL_KINDS.join(", ")}`);
  }
  const { ui } = context;
  await withLocalIndex(
    context,
    async (index, { root }) => {
      let answer = await index.symbols({ name, kind, limit, match: "exact" });
      if (answer.symbols.length === 0) answer = await index.symbols({ name, kind, limit, match: "prefix" });
      if (answer.symbols.length === 0) {
        const near = await index.symbols({ name, match: "fuzzy", limit: MAX_SIMILAR });
        const similar = [...new Set(near.symbols.map((found) => found.name))];
        const hint = similar.length === 0 ? "" : `; similar: ${similar.join(", ")}`;
        const what = kind === undefined ? "symbol" : kind;
        throw new CliError(EXIT.notFound, "SYMBOL_NOT_FOUND", `no ${what} named ${name} in this work tree${hint}`, {
          details: { similar },
        });
      }
      const { gitSha } = index.info;
      const symbols = withoutRevision(answer.symbols);
      await showPaged(context, { gitSha, symbols, match: answer.match, truncated: answer.truncated }, () => {
        const lines = symbols.map(({ path, startLine, name: found, qualifiedName, signature }) => {
          const place = ui.link(join(root, path), ui.style("cyan", `${path}:${startLine}`));
          const scope = qualifiedName === found ? "" : ui.style("dim", `  ${qualifiedName}`);
          return `${place}  ${emphasize(context, signature || qualifiedName, found)}${scope}`;
        });
        return answer.truncated ? [...lines, `(the first ${formatCount(limit)}; --limit shows more)`] : lines;
      });
    },
    { ref },
  );
}

/** A signature with the name in bold. */
export function emphasize(context: Context, signature: string, name: string): string {
  const at = signature.indexOf(name);
  if (at === -1 || name === "") return signature;
  return signature.slice(0, at) + context.ui.style("bold", name) + signature.slice(at + name.length);
}
