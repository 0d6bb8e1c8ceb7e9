import { COVERAGE } from "../../contract/questions.ts";
import { coverage } from "../../interface/questions/exact.ts";
import { coverageResponse } from "../../interface/questions/exact-http.ts";
import { ask, nothingFound, show } from "../ask.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import { innerRepository, innerText } from "../missing-path.ts";
import { folderPathOf } from "../project.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import { formatCount, table } from "../terminal/ui.ts";

/** `codectx coverage [path]`: what is indexed, what is searched besides, and why the rest is not. */
export async function coverageCommand(
  context: Context,
  path: string | undefined,
  options: RemoteOption & { reason?: string },
): Promise<void> {
  let asked: { root: string; own: string } | undefined;
  const found = await ask(context, coverage, {
    options,
    request: (project) => {
      const own = folderPathOf(context, project, path, options);
      asked = project && own !== undefined ? { root: project.root, own } : undefined;
      return requestOf(COVERAGE, { path: own }, options);
    },
    missing: (answer) => {
      if (answer.path?.state !== "absent") return undefined;
      const inner = asked && innerRepository(asked.root, asked.own);
      return nothingFound(
        asked && inner !== undefined ? innerText(asked.own, inner) : `${path} is not in this tree, or git ignores it`,
      );
    },
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
