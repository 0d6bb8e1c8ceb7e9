import { SYMBOLS } from "../../contract/questions.ts";
import { NotFoundError } from "../../interface/questions/code-index.ts";
import { symbolsResponse } from "../../interface/questions/http.ts";
import { symbols } from "../../interface/questions/questions.ts";
import { nearNames } from "../../interface/questions/unknown.ts";
import { ask, placeText, show } from "../ask.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import { checkKinds } from "../command-line/filters.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import { shownOf } from "../terminal/ui.ts";

export interface SymbolOptions extends RemoteOption {
  kind?: string;
}

/** `codectx symbol <name>`: finds definitions by name, best matches first: code before tests and documentation. */
export async function symbol(context: Context, name: string, options: SymbolOptions): Promise<void> {
  if (options.kind !== undefined) checkKinds([options.kind]);
  const request = requestOf(SYMBOLS, { name }, options);
  const found = await ask(context, symbols, {
    options,
    request: () => request,
    // A script that asks for a name must not take a similar one for it.
    missing: ({ symbols: similar, match, tooLarge }) =>
      match === "fuzzy" && request.match === undefined
        ? new NotFoundError("name", name, nearNames(similar), { tooLarge })
        : undefined,
  });
  const { ui } = context;
  await show(context, found, symbolsResponse, () => {
    const lines = found.answer.symbols.map(({ revision, path, startLine, name, qualifiedName, signature }) => {
      const place = placeText(context, found, { revision, path, line: startLine });
      const scope = qualifiedName === name ? "" : ui.style("dim", `  ${qualifiedName}`);
      return `${place}  ${emphasize(context, signature || qualifiedName, name)}${scope}`;
    });
    return [...lines, ...shownOf(found.answer.symbols.length, found.answer)];
  });
}

/** A signature with the name in bold. */
export function emphasize(context: Context, signature: string, name: string): string {
  const at = signature.indexOf(name);
  if (at === -1 || name === "") return signature;
  return signature.slice(0, at) + context.ui.style("bold", name) + signature.slice(at + name.length);
}
