import { REFERENCES } from "../../contract/questions.ts";
import { referencesResponse } from "../../interface/questions/http.ts";
import { references } from "../../interface/questions/questions.ts";
import type { Certainty, RelatedReference } from "../../interface/questions/relations.ts";
import { ask, type CommandAnswer, nothingFound, placeText, requestOf, show } from "../ask.ts";
import type { Context } from "../context.ts";
import { pathOf, type RemoteOption } from "../remote/remote-search.ts";
import { shownOf } from "../terminal/ui.ts";

export interface RelationOptions extends RemoteOption {
  limit: number;
  at?: string;
  certainty?: Certainty;
}

const NOTHING: Readonly<Record<RelatedReference["relation"], string>> = {
  callers: "nothing calls",
  callees: "no definition of this index is called in",
  implementations: "no class inherits from",
};

/** `codectx callers|callees|implementations <name>`: uses of a definition, each with how sure it is. */
export async function relations(
  context: Context,
  relation: RelatedReference["relation"],
  name: string,
  { at, ...options }: RelationOptions,
): Promise<void> {
  const { ui } = context;
  const found = await ask(context, references, {
    options,
    request: (project) => {
      const place: Partial<ReturnType<typeof placeOf>> = at === undefined ? {} : placeOf(at);
      const path = place.path === undefined ? undefined : pathOf(context, project, place.path, options);
      return requestOf(REFERENCES, { name, relation, path, line: place.line, ...options });
    },
    missing: ({ references: list }) =>
      list.length === 0 ? nothingFound(`${NOTHING[relation]} ${name}, as far as is known`) : undefined,
  });
  await show(context, found, referencesResponse, () => {
    const list = found.answer.references as RelatedReference[];
    const targets = new Set(list.map(({ target }) => JSON.stringify(target)));
    const isGrouped = relation !== "callees" && targets.size > 1;
    const groups = Map.groupBy(list, ({ target }) => (isGrouped ? definitionOf(target) : ""));
    const lines: string[] = [];
    for (const [definition, own] of groups) {
      if (definition !== "") lines.push(ui.style("bold", definition));
      lines.push(...own.map((each) => lineText(context, found, each)));
    }
    return [countsOf(list), ...lines, ...shownOf(list.length, found.answer)];
  });
}

/** The path and line of `--at`. */
function placeOf(at: string): { path: string; line?: number } {
  const [, path = at, line] = /^(.*):(\d{1,9})$/.exec(at) ?? [];
  return line === undefined ? { path } : { path, line: Number(line) };
}

const definitionOf = (target: RelatedReference["target"]): string =>
  target ? `${target.qualifiedName}  ${target.path}:${target.line}` : "by name only";

function countsOf(list: readonly RelatedReference[]): string {
  const counts = Map.groupBy(list, ({ certainty }) => certainty);
  return [...counts]
    .map(([certainty, { length }]) => `${length} ${certainty === "name" ? "by name" : certainty}`)
    .join(", ");
}

function lineText(
  context: Context,
  found: CommandAnswer<object>,
  { revision, path, line, text, enclosing, certainty, relation, target }: RelatedReference,
): string {
  const { ui } = context;
  const callee = relation === "callees" && target ? `  → ${definitionOf(target)}` : "";
  const around = enclosing === null || relation === "callees" ? "" : ui.style("dim", `  in ${enclosing}`);
  return `${placeText(context, found, { revision, path, line })}  ${ui.style("dim", certainty)}  ${text}${around}${callee}`;
}
