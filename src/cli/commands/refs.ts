import { join } from "node:path";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { type RefOption, withLocalIndex, withoutRevision } from "../local-search.ts";
import { showPaged } from "../pager.ts";
import { formatCount } from "../ui.ts";
import { emphasize } from "./symbol.ts";

/** `codectx refs <name>`: lines that use an identifier, matched by name only; without definitions. */
export async function refs(
  context: Context,
  name: string,
  { limit, ref }: { limit: number } & RefOption,
): Promise<void> {
  if (name.trim() === "") throw new CliError(EXIT.usage, "NO_NAME", "the name is empty");
  const { ui } = context;
  await withLocalIndex(
    context,
    async (index, { root }) => {
      const { references: found, truncated } = await index.references({ name, limit });
      if (found.length === 0) {
        throw new CliError(EXIT.notFound, "NOT_FOUND", `nothing in this work tree uses the name ${name}`);
      }
      const references = withoutRevision(found);
      const last = name.split(/[^\p{L}\p{N}_$]+/u).findLast((part) => part !== "") ?? name;
      await showPaged(context, { gitSha: index.info.gitSha, references, truncated }, () => {
        const lines = references.map(({ path, line, text, enclosing }) => {
          const place = ui.link(join(root, path), ui.style("cyan", `${path}:${line}`));
          return `${place}  ${emphasize(context, text, last)}${enclosing === null ? "" : ui.style("dim", `  in ${enclosing}`)}`;
        });
        return truncated ? [...lines, `(the first ${formatCount(limit)}; --limit shows more)`] : lines;
      });
    },
    { ref },
  );
}
