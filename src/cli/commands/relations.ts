import { REFERENCES } from "../../contract/questions.ts";
import { referencesResponse } from "../../interface/questions/http.ts";
import { references } from "../../interface/questions/questions.ts";
import type { RelatedReference } from "../../interface/questions/relations/answer.ts";
import { countedText, countsOf, isOwnModule, outsideText } from "../../interface/questions/relations/counts.ts";
import type { Certainty } from "../../interface/questions/relations/found.ts";
import { ask, type CommandAnswer, nothingFound, placeText, show } from "../ask.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { pathOf } from "../project.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import { shownOf, plural } from "../terminal/ui.ts";

export interface RelationOptions extends RemoteOption {
  limit: number;
  at?: string;
  certainty?: Certainty;
  depth?: string;
}

const NOTHING: Readonly<Record<RelatedReference["relation"], string>> = {
  callers: "nothing calls",
  callees: "no definition of this index is called in",
  implementations: "nothing implements or inherits from",
  importers: "nothing imports",
};

/**
 * `codectx callers|callees|implementations <name>`: uses of a definition, each with how sure it is. `codectx importers <path>`: imports of
 * a file, or of a package by its name.
 */
export async function relations(
  context: Context,
  relation: RelatedReference["relation"],
  name: string,
  { at, depth: steps, ...options }: RelationOptions,
): Promise<void> {
  const { ui } = context;
  const found = await ask(context, references, {
    options,
    typed: { path: at === undefined ? "path" : "--at", line: "--at" },
    request: (project) => {
      if (relation === "importers") {
        // A package is not a path of the work tree.
        const path = /^[./]|\.\w+$/.test(name) ? pathOf(context, project, name, options) : name;
        return requestOf(REFERENCES, { relation, path, ...options });
      }
      if (at?.trim() === "") throw new CliError(EXIT.usage, "USAGE", "--at: must not be empty");
      const place: Partial<ReturnType<typeof placeOf>> = at === undefined ? {} : placeOf(at);
      const path = place.path === undefined ? undefined : pathOf(context, project, place.path, options);
      const depth = steps === undefined ? undefined : Number(steps);
      return requestOf(REFERENCES, { name, relation, path, line: place.line, depth, ...options });
    },
    missing: ({ references: list, truncated, inherited, outside, similar = [] }) => {
      const known = truncated ? "in the files that were read, which are not all" : "as far as is known";
      const isPackage = isOwnModule(name, outside);
      // A type may be named without being constructed.
      const refs = isPackage
        ? `; it is a package, \`codectx importers ${name}\` lists its imports`
        : relation === "callers"
          ? `; \`codectx refs ${name}\` lists the lines that name it`
          : "";
      const near = similar.length === 0 || isPackage ? "" : `; similar: ${similar.join(", ")}`;
      return list.length === 0
        ? nothingFound(`${NOTHING[relation]} ${inherited?.join(", ") ?? name}, ${known}${near}${refs}`)
        : undefined;
    },
  });
  await show(context, found, referencesResponse, () => {
    const list = found.answer.references as RelatedReference[];
    const definitionOf = ({ revision, target }: RelatedReference) => definitionText(found, revision, target);
    const targets = new Set(list.map(definitionOf));
    const isGrouped = relation !== "callees" && targets.size > 1;
    const groups = Map.groupBy(list, (each) => (isGrouped ? definitionOf(each) : ""));
    const lines: string[] = [];
    for (const [definition, own] of groups) {
      if (definition !== "") lines.push(ui.style("bold", definition));
      lines.push(...own.map((each) => lineText(context, found, each)));
    }
    const { counts = countsOf(list), unread = 0, implementing = 0, inherited, outside, similar } = found.answer;
    const notRead = unread === 0 ? [] : [`${plural(unread, "file")} that may hold more could not be read for it`];
    const implemented =
      implementing === 0
        ? []
        : [`${implementing} definitions implement it, with callers of their own: codectx implementations ${name}`];
    const meant = inherited ? [`${name} is inherited: it is ${inherited.join(", ")}`] : [];
    if (outside) meant.push(outsideText(name, outside, similar));
    return [...meant, countedText(counts), ...lines, ...shownOf(list.length, found.answer), ...notRead, ...implemented];
  });
}

/** The path and line of `--at`. */
function placeOf(at: string): { path: string; line?: number } {
  const [, path = at, line] = /^(.*):(\d{1,9})$/.exec(at) ?? [];
  return line === undefined ? { path } : { path, line: Number(line) };
}

/** A definition; with its repository where several are asked. */
function definitionText(
  { answer: { indexes } }: CommandAnswer<object>,
  revision: number,
  target: RelatedReference["target"],
): string {
  if (!target) return "by name only";
  const repo = indexes.length > 1 ? `${indexes[target.revision ?? revision]?.name} ` : "";
  return `${target.qualifiedName}  ${repo}${target.path}:${target.line}`;
}

function lineText(
  context: Context,
  found: CommandAnswer<object>,
  { revision, path, line, text, enclosing, certainty, relation, distance, target }: RelatedReference,
): string {
  const { ui } = context;
  const callee = relation === "callees" && target ? `  → ${definitionText(found, revision, target)}` : "";
  const around = enclosing === null || relation === "callees" ? "" : ui.style("dim", `  in ${enclosing}`);
  const sureness = distance === 1 ? certainty : `${certainty}, ${distance} calls away`;
  return `${placeText(context, found, { revision, path, line })}  ${ui.style("dim", sureness)}  ${text}${around}${callee}`;
}
