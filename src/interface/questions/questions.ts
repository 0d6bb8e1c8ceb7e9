/** How each question is answered, by the same rules whoever asks and wherever the index lies. */
import { CALL_PATH, DEFINITION, FILE, IMPACT, OUTLINE, REFERENCES, SEARCH, SYMBOLS } from "../../contract/questions.ts";
import type { FoundReference, ReferenceAnswer, SymbolAnswer } from "../../engines/search/types.ts";
import type { ImpactAnswer } from "./impact/answer.ts";
import type { RelatedReference, RelationAnswer } from "./relations/answer.ts";
import type { DefinitionAnswer } from "./relations/definition.ts";
import type { CallPathAnswer } from "./relations/path.ts";
import { InvalidFieldError, question, type TooLarge } from "./code-index.ts";
import { coverage, files, grep } from "./exact.ts";
import { definedAt, tooLargeIn, unknownName, unknownPath } from "./unknown.ts";

/** Places by what they do or say. Nothing found is an empty answer. */
export const search = question({
  name: "search",
  parameters: SEARCH,
  answer: (indexes, request) => indexes.search(request),
});

/** Definitions by name. Where only similar names are found, with the files that may define it all the same. */
export const symbols = question({
  name: "symbols",
  parameters: SYMBOLS,
  answer: async (indexes, request): Promise<SymbolAnswer & { tooLarge?: TooLarge }> => {
    const answer = await indexes.symbols(request);
    const isPlace = answer.match !== "exact" && (await definedAt(indexes, request.name)).length > 0;
    if (isPlace || answer.symbols.length === 0) throw await unknownName(indexes, request.name);
    const tooLarge = answer.match === "exact" ? undefined : await tooLargeIn(indexes);
    return tooLarge ? { ...answer, tooLarge } : answer;
  },
});

/** Lines; each with its relation if one was asked for. */
type ReferencesAnswer = Omit<ReferenceAnswer, "references"> &
  Partial<Pick<RelationAnswer, "counts" | "unread" | "implementing" | "inherited" | "outside" | "similar">> & {
    references: (FoundReference & Partial<RelatedReference>)[];
  };

/** Lines that use a name. A name that is defined and not used is an empty answer, one that is neither is an error. */
export const references = question({
  name: "references",
  parameters: REFERENCES,
  answer: async (indexes, request): Promise<ReferencesAnswer> => {
    const { relation, name } = request;
    if (relation !== undefined) {
      const { relatedReferences } = await import("./relations/answer.ts");
      return relatedReferences(indexes, { ...request, relation });
    }
    if (name === undefined) throw new InvalidFieldError("name", "is required: the identifier that is used");
    for (const field of ["path", "line", "certainty", "depth"] as const)
      if (request[field] !== undefined) throw new InvalidFieldError(field, "needs relation");
    const answer = await indexes.references({ name, limit: request.limit });
    if (answer.references.length > 0) return answer;
    const { symbols: defined } = await indexes.symbols({ name, match: "exact", limit: 1 });
    if (defined.length === 0) throw await unknownName(indexes, name);
    return answer;
  },
});

/** What the name at a position means. A name that leads to no definition of the index is an empty answer. */
export const definition = question({
  name: "definition",
  parameters: DEFINITION,
  answer: async (indexes, request): Promise<DefinitionAnswer> =>
    (await import("./relations/definition.ts")).definitionsAt(indexes, request),
});

/** How one definition reaches another through calls. No way is an empty answer. */
export const path = question({
  name: "path",
  parameters: CALL_PATH,
  answer: async (indexes, request): Promise<CallPathAnswer> =>
    (await import("./relations/path.ts")).callPaths(indexes, request),
});

/** What a change concerns. A change that concerns nothing else is an empty answer. */
export const impact = question({
  name: "impact",
  parameters: IMPACT,
  answer: async (indexes, request): Promise<ImpactAnswer> =>
    (await import("./impact/impact.ts")).impactOf(indexes, request),
});

/** Symbols of a file. */
export const outline = question({
  name: "outline",
  parameters: OUTLINE,
  answer: async (indexes, { path }) => {
    const found = await indexes.outline(path);
    if (!found) throw await unknownPath(indexes, path);
    return { path, ...found };
  },
});

/** Lines of a file. */
export const file = question({
  name: "file",
  parameters: FILE,
  answer: async (indexes, { path, start, end }) => {
    const found = await indexes.file(path, start, end);
    if (!found) throw await unknownPath(indexes, path);
    return { path, ...found };
  },
});

/** Every question, by name. */
export const QUESTIONS = {
  search,
  symbols,
  references,
  definition,
  path,
  impact,
  outline,
  file,
  grep,
  coverage,
  files,
};
