import { COVERAGE } from "../../contract/questions.ts";
import { coverage } from "../../interface/questions/exact.ts";
import { coverageResponse } from "../../interface/questions/exact-http.ts";
import { ask, nothingFound, show } from "../ask.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import { folderPathOf } from "../project.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import { formatCount, table } from "../terminal/ui.ts";

/** `codectx coverage [path]`: what is indexed, what is searched besides, and why the rest is not. */
export async function coverageCommand(
  context: Context,
  path: string | undefined,
  options: RemoteOption & { reason?: string },
): Promise<void> {
  const found = await ask(context, coverage, {
    options,
    request: (project) => requestOf(COVERAGE, { path: folderPathOf(context, project, path, options) }, options),
    missing: (answer) =>
      answer.path?.state === "absent" ? nothingFound(`${path} is not in this tree, or git ignores it`) : undefined,
  });
  const { reason } = options;
  if (reason !== undefined && found.answer.paths.length === 0)
    context.ui.note(`no file is left out of the index as ${reason}`);
  await show(context, found, coverageResponse, () => {
    const { indexed, searchedOnly, notSearched, paths, truncated } = found.answer;
    const counts = [
      ["indexed and searched", formatCount(indexed)],
      ["searched only", formatCount(searchedOnly)],
      ...Object.entries(notSearched).map(([reason, count]) => [`not searched: ${reason}`, formatCount(count)]),
    ];
    const rows = paths.map(({ path: own, state, reason }) => [
      own,
      state === "searched" ? "searched only" : "not searched",
      reason ?? "",
    ]);
    return [
      ...table(counts),
      ...(rows.length === 0 ? [] : ["", ...table(rows)]),
      ...(truncated ? ["(more; --limit shows them)"] : []),
    ];
  });
}
