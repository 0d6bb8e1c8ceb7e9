import { CALL_PATH } from "../../contract/questions.ts";
import { pathResponse } from "../../interface/questions/http.ts";
import { path } from "../../interface/questions/questions.ts";
import { ask, nothingFound, placeText, show } from "../ask.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import type { RemoteOption } from "../remote/remote-search.ts";

/** `codectx path <from> <to>`: how one definition reaches another through calls. */
export async function pathCommand(
  context: Context,
  from: string,
  to: string,
  options: RemoteOption & { limit: number },
): Promise<void> {
  const found = await ask(context, path, {
    options,
    request: () => requestOf(CALL_PATH, { from, to, ...options }),
    missing: ({ paths, truncated }) =>
      paths.length === 0
        ? nothingFound(
            `no call of ${from} leads to ${to}, as far as is known${truncated ? "; not all calls could be followed" : ""}`,
          )
        : undefined,
  });
  const { paths, truncated } = found.answer;
  await show(context, found, pathResponse, () => {
    const lines: string[] = [];
    for (const steps of paths) {
      if (lines.length > 0) lines.push("");
      for (const [step, { revision, path: file, line, name, certainty }] of steps.entries()) {
        const sureness = step === 0 ? "" : `  ${context.ui.style("dim", certainty)}`;
        const place = placeText(context, found, { revision, path: file, line });
        lines.push(`${"  ".repeat(step)}${name}  ${place}${sureness}`);
      }
    }
    if (truncated) lines.push("(not all calls could be followed)");
    return lines;
  });
}
