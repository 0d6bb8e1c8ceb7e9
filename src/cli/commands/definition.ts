import { leadsNowhereText } from "../../interface/questions/relations/counts.ts";
import { DEFINITION } from "../../contract/questions.ts";
import { definitionResponse } from "../../interface/questions/http.ts";
import { definition } from "../../interface/questions/questions.ts";
import { parsePosition } from "../../interface/questions/relations/position.ts";
import { ask, nothingFound, placeText, show } from "../ask.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { pathOf } from "../project.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import { emphasize } from "./symbol.ts";

/** `codectx definition <path>:<line>[:<column>]`: what the name at a position means. Throws a usage error for anything else. */
export async function definitionCommand(context: Context, place: string, options: RemoteOption): Promise<void> {
  const position = parsePosition(place);
  if (!position)
    throw new CliError(EXIT.usage, "BAD_POSITION", `not a path, line and column (src/app.ts:10:4): ${place}`);
  const found = await ask(context, definition, {
    options,
    request: (project) =>
      requestOf(DEFINITION, { ...position, path: pathOf(context, project, position.path, options) }),
    missing: ({ names, definitions, outside }) =>
      definitions.length === 0 ? nothingFound(leadsNowhereText(names, outside)) : undefined,
  });
  const { definitions, truncated } = found.answer;
  const { ui } = context;
  await show(context, found, definitionResponse, () => {
    const lines = definitions.map(({ revision, path, startLine, name, qualifiedName, signature, certainty }) => {
      const at = placeText(context, found, { revision, path, line: startLine });
      const scope = qualifiedName === name ? "" : ui.style("dim", `  ${qualifiedName}`);
      return `${at}  ${ui.style("dim", certainty)}  ${emphasize(context, signature || qualifiedName, name)}${scope}`;
    });
    return truncated ? [...lines, "(there may be more)"] : lines;
  });
}
