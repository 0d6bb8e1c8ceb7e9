import { REFERENCES } from "../../contract/questions.ts";
import { referencesResponse } from "../../interface/questions/http.ts";
import { references } from "../../interface/questions/questions.ts";
import { ask, nothingFound, placeText, show } from "../ask.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import { shownOf } from "../terminal/ui.ts";
import { emphasize } from "./symbol.ts";

/** `codectx refs <name>`: lines that use an identifier, matched by name only; without definitions. */
export async function refs(context: Context, name: string, options: RemoteOption): Promise<void> {
  const request = requestOf(REFERENCES, { name }, options);
  const found = await ask(context, references, {
    options,
    request: () => request,
    missing: ({ references: found }) =>
      found.length === 0
        ? nothingFound(
            `${name} is defined, and no other line of the indexed files names it; \`codectx grep\` searches the others as well`,
          )
        : undefined,
  });
  const { ui } = context;
  const last = name.split(/[^\p{L}\p{N}_$]+/u).findLast((part) => part !== "") ?? name;
  await show(context, found, referencesResponse, () => {
    const lines = found.answer.references.map(({ revision, path, line, text, enclosing }) => {
      const place = placeText(context, found, { revision, path, line });
      return `${place}  ${emphasize(context, text, last)}${enclosing === null ? "" : ui.style("dim", `  in ${enclosing}`)}`;
    });
    return [...lines, ...shownOf(found.answer.references.length, found.answer)];
  });
}
