import { SEARCH } from "../../contract/questions.ts";
import { compileGlobs } from "../../lib/globs.ts";
import { estimateTokens } from "../embedding/tokens.ts";
import { addSymbols, findDefinitions } from "./definitions.ts";
import { findChunks, needsSymbols, placeOf, type Place } from "./places.ts";
import { parseQuery, type ParsedQuery, type QueryTerm } from "./query.ts";
import { chooseFiles, rankFiles } from "./rerank.ts";
import { queryPostingBytes, readQueryPostings, scoreDocuments, type ScoredTerm } from "./score.ts";
import type { SearchIndex } from "./search-index.ts";
import { selectTerms } from "./select-terms.ts";
import { findSimilar, type QueryVector } from "./similarity.ts";
import { showPlace, type Shown } from "./snippets.ts";
import type { Match, SearchAnswer, SearchRequest, SearchResult, TextSource, WantedText } from "./types.ts";

/** Runs a work that holds so many bytes when there is room for it. */
export type InTurn = <T>(bytes: number, work: () => Promise<T>) => Promise<T>;
/** Entries of `matched` at most. */
const MAX_MATCHED = 12;

/**
 * Answers a query. Bounded work whatever the query is: what is beyond 32,768 characters, 512 distinct terms, 64 identifiers and 32
 * mentioned paths does not count, and the 100 strongest terms are scored. The same index, request and vector give the same answer to
 * the byte. With `vector`, similarity in its model's space takes part in the ranking. Throws `SearchFormatError` if a block of the
 * index is damaged, `GlobError` for path filters beyond their limits, and what `texts` and `vector.vectorsOf` throw. `inTurn` runs the part that holds most memory, given the bytes of
 * the postings it reads.
 */
export async function search(
  index: SearchIndex,
  request: SearchRequest,
  texts: TextSource,
  vector?: QueryVector,
  inTurn: InTurn = (_bytes, work) => work(),
): Promise<SearchAnswer> {
  const limit = request.limit ?? SEARCH.limit.default;
  const query = parseQuery(request);
  const selected = selectTerms(index, query.terms);
  const { terms, candidates, similar } = await inTurn(queryPostingBytes(index, selected), () =>
    firstStage(index, query, selected, vector),
  );
  const ranked = await rankFiles(index, query, terms, candidates);
  const kinds = new Set((request.kinds ?? []).map((kind) => kind.toLowerCase()));
  // Those of the files that are most likely shown are read with them.
  await addSymbols(
    index,
    ranked.filter((file, i) => i < limit || needsSymbols(file, kinds)),
  );
  const found = findChunks(index, ranked, kinds);
  // Literals are checked in the text of all candidates; without one, only the texts that are shown are read.
  const chosen = query.literals.length > 0 ? found : found.slice(0, limit);
  await addSymbols(
    index,
    chosen.map(({ ranked }) => ranked),
  );
  const read = chosen.map((chunk) => placeOf(index, chunk, kinds));
  const loaded = await texts(read.map((place) => wantedText(index, place)));
  const matching = read
    .map((place, i) => ({ place, text: loaded[i] ?? { chunks: [], signatures: [] } }))
    .filter(({ text }) => query.literals.every((literal) => text.chunks.some((chunk) => chunk.includes(literal))));
  const byHash = new Map(terms.map((term) => [term.hash, term]));
  const shown = matching.slice(0, limit).map(({ place, text }) => ({ place, shown: showPlace(place, text, byHash) }));
  const packed = pack(
    shown.map(({ shown }) => shown.forms),
    request.maxTokens ?? SEARCH.maxTokens.default,
  );
  const results = shown.map(({ place, shown }, i) =>
    resultOf(index, query, terms, {
      place,
      shown,
      snippet: packed.snippets[i] ?? "",
      isSimilar: (similar?.[place.document] ?? 0) > 0,
    }),
  );
  const total = query.literals.length > 0 ? matching.length : found.length;
  return {
    results,
    total,
    truncated: total > limit || packed.isShortened,
    tokens: packed.tokens,
    digest: index.digest,
  };
}

/** Reads all that the first stage needs, then scores at once. `selected` are the terms of `selectTerms`. */
async function firstStage(
  index: SearchIndex,
  query: ParsedQuery,
  selected: readonly QueryTerm[],
  vector: QueryVector | undefined,
) {
  const [postings, definitions, similar] = await Promise.all([
    readQueryPostings(index, selected),
    findDefinitions(index, query.identifiers),
    vector === undefined ? undefined : findSimilar(index, vector),
  ]);
  const scores = scoreDocuments(index, selected, postings);
  const candidates = chooseFiles(index, query, scores, { definitions, allowed: fileFilter(index, query), similar });
  return { terms: scores.terms, candidates, similar };
}

/** Undefined if the query filters nothing. */
function fileFilter(
  index: SearchIndex,
  { paths, pathsField, languages }: ParsedQuery,
): ((file: number) => boolean) | undefined {
  if (paths.length === 0 && languages.length === 0) return undefined;
  const matches = paths.length === 0 ? undefined : compileGlobs(paths, { field: pathsField });
  const wanted = new Set(languages);
  return (file) =>
    (matches === undefined || matches(index.path(file))) && (wanted.size === 0 || wanted.has(index.language(file)));
}

function wantedText(index: SearchIndex, { ranked, chunks, symbols }: Place): WantedText {
  const { file, record } = ranked;
  return {
    ...index.contentKey(file),
    revision: index.revisionOf(file),
    path: index.path(file),
    chunks: chunks.map((ordinal) => {
      const { startLine, endLine } = record.chunks[ordinal] as (typeof record.chunks)[number];
      return { ordinal, startLine, endLine };
    }),
    symbols,
  };
}

/**
 * Chooses a form of each snippet so that all fit into the budget: every result gets its shortest form, as far as the budget goes,
 * then each in turn the longest that still fits.
 */
function pack(
  forms: readonly (readonly string[])[],
  maxTokens: number,
): { snippets: string[]; tokens: number; isShortened: boolean } {
  let left = maxTokens;
  const sizes = forms.map((own) => own.map((form) => estimateTokens([form])));
  const chosen: number[] = forms.map((_, i) => {
    const size = sizes[i]?.[0] ?? 0;
    if (size > left) return -1;
    left -= size;
    return 0;
  });
  for (const [i, own] of forms.entries()) {
    const current = chosen[i] as number;
    if (current < 0) continue;
    for (let form = own.length - 1; form > current; form--) {
      const more = (sizes[i]?.[form] ?? 0) - (sizes[i]?.[current] ?? 0);
      if (more > left) continue;
      left -= more;
      chosen[i] = form;
      break;
    }
  }
  const snippets = forms.map((own, i) => own[chosen[i] as number] ?? "");
  const isShortened = forms.some((own, i) => (chosen[i] ?? -1) < own.length - 1);
  return { snippets, tokens: maxTokens - left, isShortened };
}

function resultOf(
  index: SearchIndex,
  query: ParsedQuery,
  terms: readonly ScoredTerm[],
  { place, shown, snippet, isSimilar }: { place: Place; shown: Shown; snippet: string; isSimilar: boolean },
): SearchResult {
  const { ranked, score, defined } = place;
  const symbol = shown.symbol === undefined ? undefined : ranked.record.symbols[shown.symbol];
  const path = index.path(ranked.file);
  const matched: Match[] = [];
  const add = (kind: Match["kind"], text: string): void => {
    if (!matched.some((match) => match.kind === kind && match.text === text)) matched.push({ kind, text });
  };
  if (defined !== undefined && ranked.definition) add("definition", ranked.definition.shown);
  if (ranked.isMentioned) add("mention", path);
  if (isSimilar) add("similarity", "embedding");
  for (const literal of query.literals) add("literal", literal);
  for (const { hash, shown: text } of terms) if (shown.terms.has(hash)) add("word", text);
  for (const word of ranked.pathWords) add("path", word);
  return {
    revision: index.revisionOf(ranked.file),
    path,
    language: index.language(ranked.file),
    startLine: shown.startLine,
    endLine: shown.endLine,
    symbol: symbol
      ? {
          name: symbol.name,
          qualifiedName: symbol.qualifiedName,
          kind: symbol.kind,
          signature: shown.signature === "" ? symbol.name : shown.signature,
        }
      : null,
    score: Math.round(score * 10_000) / 10_000,
    snippet,
    matched: matched.slice(0, MAX_MATCHED),
  };
}
