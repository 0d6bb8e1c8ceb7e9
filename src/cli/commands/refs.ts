import { join } from "node:path";
import type { ReferencesResponse } from "../../contract/search.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { stateOf, withLocalIndex, withoutRevision } from "../local-search.ts";
import { showPaged } from "../pager.ts";
import { remoteIndex, type RemoteOption } from "../remote-search.ts";
import { formatCount } from "../ui.ts";
import { emphasize } from "./symbol.ts";

/** `codectx refs <name>`: lines that use an identifier, matched by name only; without definitions. */
export async function refs(context: Context, name: string, options: { limit: number } & RemoteOption): Promise<void> {
  const { limit, ref } = options;
  if (name.trim() === "") throw new CliError(EXIT.usage, "NO_NAME", "the name is empty");
  const remote = await remoteIndex(context, options);
  if (remote) {
    const { ok: _, ...answer } = await remote.client.references({ ...remote.selector, name, limit }, remote.call);
    return show(context, { gitSha: answer.indexes[0]?.gitSha ?? null, ...answer }, { name, limit });
  }
  const { root, ...document } = await withLocalIndex(
    context,
    async (index, project) => {
      const { references: found, truncated } = await index.references({ name, limit });
      if (found.length === 0) {
        throw new CliError(EXIT.notFound, "NOT_FOUND", `nothing in this work tree uses the name ${name}`);
      }
      return { root: project.root, ...stateOf(index), references: withoutRevision(found), truncated };
    },
    { ref },
  );
  await show(context, document, { name, limit, root });
}

/** Prints references; `root` is the work tree of the paths, for links. */
async function show(
  context: Context,
  document: Pick<ReferencesResponse, "references" | "truncated"> & { gitSha: string | null },
  { name, limit, root }: { name: string; limit: number; root?: string },
): Promise<void> {
  const { ui } = context;
  const last = name.split(/[^\p{L}\p{N}_$]+/u).findLast((part) => part !== "") ?? name;
  await showPaged(context, document, () => {
    const lines = document.references.map(({ path, line, text, enclosing }) => {
      const shown = ui.style("cyan", `${path}:${line}`);
      const place = root === undefined ? shown : ui.link(join(root, path), shown);
      return `${place}  ${emphasize(context, text, last)}${enclosing === null ? "" : ui.style("dim", `  in ${enclosing}`)}`;
    });
    return document.truncated ? [...lines, `(the first ${formatCount(limit)}; --limit shows more)`] : lines;
  });
}
