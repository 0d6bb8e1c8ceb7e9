import { IMPACT } from "../../contract/questions.ts";
import { outsideText } from "../../interface/questions/relations/counts.ts";
import type { Certainty } from "../../interface/questions/relations/found.ts";
import { impactResponse } from "../../interface/questions/http.ts";
import { impact } from "../../interface/questions/questions.ts";
import { ask, placeText, show } from "../ask.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { patchOf } from "../git/change.ts";
import { pathOf, findProject } from "../project.ts";
import type { RemoteOption } from "../remote/remote-search.ts";

export interface ImpactOptions extends RemoteOption {
  name?: string;
  path?: string[];
  depth: number;
  limit: number;
  maxTokens: number;
}

/**
 * `codectx impact [<range>]`: what a change concerns: the uncommitted edits of the work tree, a range of commits, a definition (`--name`) or
 * files (`--path`).
 */
export async function impactCommand(
  context: Context,
  range: string | undefined,
  { name, path: paths, ...options }: ImpactOptions,
): Promise<void> {
  const given = [range, name, paths].filter((each) => each !== undefined).length;
  if (given > 1) throw new CliError(EXIT.usage, "USAGE", "give one of a range, --name and --path");
  const patch =
    name === undefined && paths === undefined ? await patchOf(await findProject(context), range) : undefined;
  const found = await ask(context, impact, {
    options,
    request: (project) => {
      const own = paths?.map((path) => pathOf(context, project, path, options));
      // The diff is checked where it is made, so that its bound is explained there.
      return { ...requestOf(IMPACT, {}, { ...options, name, path: own }), patch };
    },
  });
  const { indexes, revision, changed, files, dependents, tests, interfaces, total, truncated, outside } = found.answer;
  const { ui } = context;
  await show(context, found, impactResponse, () => {
    const place = (of: number, path: string, line: number) => placeText(context, found, { revision: of, path, line });
    const nameOf = (of: number, path: string) => (of === revision ? path : `${indexes[of]?.name} ${path}`);
    const dim = (text: string) => ui.style("dim", text);
    const sure = (certainty: Certainty) => dim(certainty === "name" ? "by name" : certainty);
    const section = (title: string, shown: number, all: number, lines: readonly string[]): string[] => {
      if (lines.length === 0) return [];
      const count = shown < all ? `${shown} of ${all}` : String(all);
      return ["", ui.style("bold", `${title} (${count})`), ...lines];
    };
    const lines = [
      outside
        ? outsideText(name ?? "", outside)
        : `${total.changed} changed: ${[...new Set(changed.map(({ path, symbol }) => symbol ?? path))].join(", ")}`,
      ...section(
        "Likely to need a change or a run",
        files.length,
        total.files,
        files.map(
          ({ path, test, because }) => `${ui.style("cyan", path)}${test ? dim("  test") : ""}  ${because.join("; ")}`,
        ),
      ),
      ...section(
        "Interfaces",
        interfaces.length,
        total.interfaces,
        interfaces.map(({ path, symbol, change }) => `${symbol}  ${path}  ${dim(change)}`),
      ),
      ...section(
        "Tests",
        tests.length,
        total.tests,
        tests.map(
          ({ revision: of, path, symbol, certainty }) =>
            `${nameOf(of, path)}  ${sure(certainty)}${symbol === null ? "" : `  ${symbol}`}`,
        ),
      ),
      ...section(
        "Dependents",
        dependents.length,
        total.dependents,
        dependents.map(({ revision: of, path, line, enclosing, distance, because }) => {
          const around = enclosing === null ? "" : dim(`  in ${enclosing}`);
          return `${place(of, path, line)}  ${because}${distance === 1 ? "" : `, ${distance} calls away`}${around}`;
        }),
      ),
    ];
    if (truncated) lines.push("", dim("(there is more: --limit and --max-tokens show more of each list)"));
    return lines;
  });
}
