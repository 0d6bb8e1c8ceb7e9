import { FILE } from "../../contract/questions.ts";
import { fileResponse } from "../../interface/questions/http.ts";
import { file as fileQuestion } from "../../interface/questions/questions.ts";
import { ask, nothingFound, show } from "../ask.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { pathOf } from "../project.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import { plural } from "../terminal/ui.ts";

/** `codectx read <path>[:a-b]`: lines of an indexed file, without possible secrets. */
export async function read(context: Context, place: string, options: RemoteOption): Promise<void> {
  const { file, start, end } = parsePlace(place);
  const found = await ask(context, fileQuestion, {
    options,
    request: (project) => ({ ...requestOf(FILE, { path: pathOf(context, project, file, options) }), start, end }),
    missing: ({ path, lineCount }) =>
      start !== undefined && start > lineCount
        ? nothingFound(`${path} has ${plural(lineCount, "line")}, and no line ${start}`)
        : undefined,
  });
  const { startLine, endLine, text, withheld } = found.answer;
  const { ui } = context;
  const width = String(endLine).length;
  await show(context, found, fileResponse, () =>
    text.split("\n").map((content, position) => {
      const line = startLine + position;
      const isWithheld = withheld.some(([from, to]) => line >= from && line <= to);
      const shown = isWithheld ? ui.style("dim", "(withheld: may contain a secret)") : content;
      // Line numbers on a terminal only.
      return ui.terminal ? `${ui.style("dim", String(line).padStart(width))}  ${shown}` : shown;
    }),
  );
}

/** Parses `path`, `path:12` or `path:12-40`. A path that ends like a range needs an explicit range. */
function parsePlace(place: string): { file: string; start: number | undefined; end: number | undefined } {
  const [, file, from, to] = /^(.+?):(\d{1,9})(?:-(\d{1,9})?)?$/.exec(place) ?? [];
  if (file === undefined || from === undefined) return { file: place, start: undefined, end: undefined };
  const start = Number(from);
  const isRange = place.endsWith("-");
  const end = to === undefined ? (isRange ? undefined : start) : Number(to);
  if (start < 1 || (end !== undefined && end < start))
    throw new CliError(EXIT.usage, "BAD_RANGE", `not a range of lines: ${place.slice(file.length + 1)}`);
  return { file, start, end };
}
