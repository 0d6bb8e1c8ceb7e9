/** Answers in the contract's form, as HTTP and the dashboard give them. */
import type {
  DefinitionResponse,
  FileResponse,
  OutlineResponse,
  SearchedIndex,
  SearchResponse,
  SymbolsResponse,
} from "../../contract/search.ts";
import type { ImpactResponse, PathResponse, ReferencesResponse } from "../../contract/relations.ts";
import type { Answered, IndexInfo, QuestionAnswer } from "./code-index.ts";
import type { definition, file, impact, outline, path, references, search, symbols } from "./questions.ts";

/** A hosted index: it has all that the contract says of one. */
export type Hosted = IndexInfo & Omit<SearchedIndex, "digest">;
type AnswerOf<Q> = Answered<QuestionAnswer<Q>, Hosted>;

/** What the questions say of a hosted index. A workspace without a repository goes by its id. */
export function hostedInfo<T extends Omit<SearchedIndex, "digest">>(index: T, isWorkTree = false): T & IndexInfo {
  const { repo, workspaceId, indexedAt } = index;
  return { ...index, name: repo ?? workspaceId, indexedAtMs: Date.parse(indexedAt), isWorkTree };
}

export function searchResponse(answer: AnswerOf<typeof search>): SearchResponse {
  const { results, understood, weak, total, truncated, tokens, degraded, leftOut } = answer;
  return {
    ok: true,
    results: results.map(({ revision, path, language, startLine, endLine, symbol, score, excerpts, matched }) => {
      const { repo, workspaceId, gitSha } = answer.indexes[revision] as Hosted;
      return { repo, workspaceId, gitSha, path, language, startLine, endLine, symbol, score, excerpts, matched };
    }),
    ...(understood && { understood }),
    ...(weak && { weak }),
    indexes: indexesOf(answer),
    total,
    truncated,
    tokens,
    ...(degraded !== undefined && { degraded }),
    ...(leftOut && { leftOut: leftOut.map(({ repo, workspaceId }) => ({ repo, workspaceId })) }),
  };
}

export function symbolsResponse(answer: AnswerOf<typeof symbols>): SymbolsResponse {
  const { match, total, truncated, tooLarge } = answer;
  const found = answer.symbols.map(
    ({ revision, name, qualifiedName, kind, signature, path, language, startLine, endLine }) => {
      const { repo, workspaceId } = answer.indexes[revision] as Hosted;
      return { repo, workspaceId, name, qualifiedName, kind, signature, path, language, startLine, endLine };
    },
  );
  const more = tooLarge && { tooLarge: { files: tooLarge.files, paths: [...tooLarge.paths] } };
  return { ok: true, symbols: found, match, total, ...more, truncated, indexes: indexesOf(answer) };
}

export function referencesResponse(answer: AnswerOf<typeof references>): ReferencesResponse {
  const { total, truncated, counts, unread, implementing, inherited, outside, similar } = answer;
  const found = answer.references.map(({ revision, target, ...reference }) => {
    const { repo, workspaceId } = answer.indexes[revision] as Hosted;
    return { repo, workspaceId, ...reference, ...(target && { target: withOwner(answer.indexes, target, undefined) }) };
  });
  return {
    ok: true,
    references: found,
    by: "name",
    total,
    truncated,
    ...(counts && { counts }),
    ...(unread !== undefined && { unread }),
    ...(implementing !== undefined && { implementing }),
    ...(inherited && { inherited }),
    ...(outside && { outside }),
    ...(similar && { similar }),
    indexes: indexesOf(answer),
  };
}

/** A part of an answer, with its repository unless that is the one of the whole. */
function withOwner<T extends { revision?: number }>(
  indexes: readonly Hosted[],
  { revision, ...part }: T,
  ofWhole: number | undefined,
) {
  if (revision === undefined || revision === ofWhole) return part;
  const { repo, workspaceId } = indexes[revision] as Hosted;
  return { repo, workspaceId, ...part };
}

export function definitionResponse(answer: AnswerOf<typeof definition>): DefinitionResponse {
  const { names, outside, truncated } = answer;
  const definitions = answer.definitions.map(
    ({ revision, name, qualifiedName, kind, signature, path, language, startLine, endLine, certainty }) => {
      const { repo, workspaceId } = answer.indexes[revision] as Hosted;
      const symbol = { name, qualifiedName, kind, signature, path, language, startLine, endLine };
      return { repo, workspaceId, ...symbol, certainty };
    },
  );
  const indexes = indexesOf(inNamed(answer, answer.definitions));
  return { ok: true, names, definitions, ...(outside && { outside }), truncated, indexes };
}

export function pathResponse(answer: AnswerOf<typeof path>): PathResponse {
  const paths = answer.paths.map((steps) => steps.map((step) => withOwner(answer.indexes, step, answer.revision)));
  const indexes = indexesOf(inNamed(answer, answer.paths.flat()));
  return { ok: true, paths, truncated: answer.truncated, indexes };
}

export function impactResponse(answer: AnswerOf<typeof impact>): ImpactResponse {
  const { revision, changed, files, dependents, tests, interfaces, usuallyTogether, total, truncated, outside } =
    answer;
  const elsewhere = {
    dependents: dependents.map((each) => withOwner(answer.indexes, each, revision)),
    tests: tests.map((each) => withOwner(answer.indexes, each, revision)),
  };
  const lists = { changed, files, ...elsewhere, interfaces, usuallyTogether };
  const indexes = indexesOf(inNamed(answer, [...dependents, ...tests]));
  return { ok: true, ...lists, total, truncated, ...(outside && { outside }), indexes };
}

export function outlineResponse(answer: AnswerOf<typeof outline>): OutlineResponse {
  const { path, language, symbols: found } = answer;
  return { ok: true, path, language, outline: found, indexes: indexesOf(inNamed(answer)) };
}

export function fileResponse(answer: AnswerOf<typeof file>): FileResponse {
  const { path, language, lineCount, startLine, endLine, text, withheld } = answer;
  return {
    ok: true,
    path,
    language,
    lineCount,
    startLine,
    endLine,
    text,
    withheld,
    indexes: indexesOf(inNamed(answer)),
  };
}

/** Keeps the index that an answer is about, first, and those of some entries. */
function inNamed<T extends { indexes: readonly Hosted[]; revision: number }>(
  answer: T,
  entries: readonly { revision: number }[] = [],
): T {
  const named = new Set([answer.revision, ...entries.map(({ revision }) => revision)]);
  return { ...answer, indexes: [...named].map((revision) => answer.indexes[revision] as Hosted) };
}

export function indexesOf({ indexes, digest }: { indexes: readonly Hosted[]; digest: string }): SearchedIndex[] {
  return indexes.map(({ repo, workspaceId, ref, gitSha, indexedAt, fingerprint }) => ({
    repo,
    workspaceId,
    ref,
    gitSha,
    indexedAt,
    fingerprint,
    digest,
  }));
}
