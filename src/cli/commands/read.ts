import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { type RefOption, withLocalIndex } from "../local-search.ts";
import { showPaged } from "../pager.ts";
import { pathInProject } from "../project.ts";

/** `codectx read <path>[:a-b]`: lines of an indexed file, without possible secrets. */
export async function read(context: Context, place: string, { ref }: RefOption): Promise<void> {
  const { ui } = context;
  const { file, start, end } = parsePlace(place);
  await withLocalIndex(
    context,
    async (index, project) => {
      const path = pathInProject(project, context.cwd, file);
      const lines = await index.readFile(path, start, end);
      if (!lines) {
        const similar = index.nearPaths(path);
        const hint = similar.length === 0 ? "" : `; similar: ${similar.join(", ")}`;
        throw new CliError(EXIT.notFound, "FILE_NOT_FOUND", `${path} is not in the index${hint}`, {
          details: { similar },
        });
      }
      const width = String(lines.endLine).length;
      await showPaged(context, { gitSha: index.info.gitSha, ...lines }, () =>
        lines.text.split("\n").map((text, position) => {
          const line = lines.startLine + position;
          const isWithheld = lines.withheld.some(([from, to]) => line >= from && line <= to);
          const shown = isWithheld ? ui.style("dim", "(withheld: may contain a secret)") : text;
          // Line numbers on a terminal only.
          return ui.terminal ? `${ui.style("dim", String(line).padStart(width))}  ${shown}` : shown;
        }),
      );
    },
    { ref },
  );
}

/** Parses `path`, `path:12` or `path:12-40`. A path that ends like a range needs an explicit range. */
function parsePlace(place: string): { file: string; start?: number; end?: number } {
  const [, file, from, to] = /^(.+?):(\d{1,9})(?:-(\d{1,9})?)?$/.exec(place) ?? [];
  if (file === undefined || from === undefined) return { file: place };
  const start = Number(from);
  const isRange = place.endsWith("-");
  const end = to === undefined ? (isRange ? undefined : start) : Number(to);
  if (start < 1 || (end !== undefined && end < start))
    throw new CliError(EXIT.usage, "BAD_RANGE", `not a range of lines: ${place.slice(file.length + 1)}`);
  return { file, start, ...(end === undefined ? {} : { end }) };
}
