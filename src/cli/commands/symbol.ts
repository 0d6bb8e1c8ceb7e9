import { join } from "node:path";
import { CodeContextError } from "../../client/errors.ts";
import type { SymbolsResponse } from "../../contract/search.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { checkKinds } from "../filters.ts";
import { stateOf, withLocalIndex, withoutRevision } from "../local-search.ts";
import { showPaged } from "../pager.ts";
import { type RemoteIndex, remoteIndex, type RemoteOption } from "../remote-search.ts";
import { formatCount } from "../ui.ts";

export interface SymbolOptions extends RemoteOption {
  kind?: string;
  limit: number;
}

const MAX_SIMILAR = 5;

/**
 * `codectx symbol <name>`: finds definitions by name or by qualified name in any language's syntax, else by prefix.
 * The best matches come first: code before tests and documentation.
 */
export async function symbol(context: Context, name: string, options: SymbolOptions): Promise<void> {
  const { kind, limit, ref } = options;
  if (name.trim() === "") throw new CliError(EXIT.usage, "NO_NAME", "the name is empty");
  if (kind !== undefined) checkKinds([kind]);
  const remote = await remoteIndex(context, options);
  if (remote) {
    const answer = await remoteSymbols(remote, name, options);
    return show(context, { gitSha: answer.indexes[0]?.gitSha ?? null, ...answer }, limit, undefined);
  }
  const { root, ...document } = await withLocalIndex(
    context,
    async (index, project) => {
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
      const { match, truncated } = answer;
      const symbols = withoutRevision(answer.symbols);
      return { root: project.root, ...stateOf(index), symbols, match, truncated };
    },
    { ref },
  );
  await show(context, document, limit, root);
}

async function remoteSymbols(
  { client, selector, call }: RemoteIndex,
  name: string,
  { kind, limit }: Pick<SymbolOptions, "kind" | "limit">,
): Promise<Omit<SymbolsResponse, "ok">> {
  const ask = (match: "exact" | "prefix") =>
    client.symbols({ ...selector, name, match, limit, ...(kind === undefined ? {} : { kind }) }, call);
  const { ok: _, ...answer } = await ask("exact").catch((error: unknown) => {
    if (error instanceof CodeContextError && error.code === "NOT_FOUND") return ask("prefix");
    throw error;
  });
  return answer;
}

/** Prints symbols; `root` is the work tree of the paths, for links. */
async function show(
  context: Context,
  document: Pick<SymbolsResponse, "symbols" | "match" | "truncated"> & { gitSha: string | null },
  limit: number,
  root: string | undefined,
): Promise<void> {
  const { ui } = context;
  await showPaged(context, document, () => {
    const lines = document.symbols.map(({ path, startLine, name: found, qualifiedName, signature }) => {
      const text = ui.style("cyan", `${path}:${startLine}`);
      const place = root === undefined ? text : ui.link(join(root, path), text);
      const scope = qualifiedName === found ? "" : ui.style("dim", `  ${qualifiedName}`);
      return `${place}  ${emphasize(context, signature || qualifiedName, found)}${scope}`;
    });
    return document.truncated ? [...lines, `(the first ${formatCount(limit)}; --limit shows more)`] : lines;
  });
}

/** A signature with the name in bold. */
export function emphasize(context: Context, signature: string, name: string): string {
  const at = signature.indexOf(name);
  if (at === -1 || name === "") return signature;
  return signature.slice(0, at) + context.ui.style("bold", name) + signature.slice(at + name.length);
}
