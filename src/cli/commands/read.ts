import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { stateOf, withLocalIndex } from "../local-search.ts";
import { showPaged } from "../pager.ts";
import { pathInProject } from "../project.ts";
import { remoteIndex, type RemoteOption, remotePath } from "../remote-search.ts";

/** `codectx read <path>[:a-b]`: lines of an indexed file, without possible secrets. */
export async function read(context: Context, place: string, options: RemoteOption): Promise<void> {
  const { file, start, end } = parsePlace(place);
  const remote = await remoteIndex(context, options);
  if (remote) {
    const range = { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
    const path = remotePath(context, remote, file, options);
    const { ok: _, ...lines } = await remote.client.file({ ...remote.selector, path, ...range }, remote.call);
    return show(context, { gitSha: lines.indexes[0]?.gitSha ?? null, ...lines });
  }
  const shown = await withLocalIndex(
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
      return { ...stateOf(index), ...lines };
    },
    { ref: options.ref },
  );
  await show(context, shown);
}

type Shown = {
  gitSha: string | null;
  startLine: number;
  endLine: number;
  text: string;
  withheld: readonly (readonly number[])[];
};

async function show(context: Context, lines: Shown): Promise<void> {
  const { ui } = context;
  const width = String(lines.endLine).length;
  await showPaged(context, lines, () =>
    lines.text.split("\n").map((text, position) => {
      const line = lines.startLine + position;
      const isWithheld = lines.withheld.some(([from = 0, to = 0]) => line >= from && line <= to);
      const shown = isWithheld ? ui.style("dim", "(withheld: may contain a secret)") : text;
      // Line numbers on a terminal only.
      return ui.terminal ? `${ui.style("dim", String(line).padStart(width))}  ${shown}` : shown;
    }),
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
