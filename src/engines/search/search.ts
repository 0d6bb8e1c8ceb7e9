import { SEARCH } from "../../contract/questions.ts";
import { compileGlobs } from "../../lib/globs.ts";
import { answeringFiles } from "./answering-files.ts";
import { addSymbols, findDefinitions } from "./definitions.ts";
import { chunksToRead, type FileOffers, offersOf } from "./excerpts.ts";
import { lineOfLiteral } from "./literals.ts";
import { type LineRange, packExcerpts, type PackableFile } from "./pack.ts";
import { type FoundFile, innermost, needsSymbols, type Place, placesOf } from "./places.ts";
import { parseQuery, type ParsedQuery, type QueryTerm } from "./query.ts";
import { readQuery } from "./reading.ts";
import type { ContentRecord } from "./record.ts";
import { chooseFiles, rankFiles, type RankedFile } from "./rerank.ts";
import { queryPostingBytes, readQueryPostings, scoreDocuments, type ScoredTerm } from "./score.ts";
import type { SearchIndex } from "./search-index.ts";
import { selectTerms } from "./select-terms.ts";
import { findSimilar, type QueryVector } from "./similarity.ts";
import { TRAIT } from "./traits.ts";
import { wantedChunks } from "./wanted-text.ts";
import { weakMatch } from "./weak.ts";
import { WordEvidence } from "./word-evidence.ts";
import type {
  Excerpt,
  LoadedText,
  Match,
  SearchAnswer,
  SearchRequest,
  SearchResult,
  TextSource,
  WantedText,
} from "./types.ts";

/** Runs a work that holds so many bytes when there is room for it. */
export type InTurn = <T>(bytes: number, work: () => Promise<T>) => Promise<T>;
/** Entries of `matched` at most. */
const MAX_MATCHED = 12;
/** Files with at least this share of the best one's score are shown with excerpts. */
const NEAR_SHARE = 0.7;
/** Places of a file at most. */
const MAX_PLACES = 8;
/** A further place is read for each of so many tokens of the budget. */
const TOKENS_PER_PLACE = 150;
/** Characters of a result's line besides path, line and symbol. */
const HEAD_FRAME = 20;

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
  const offset = request.offset ?? SEARCH.offset.default;
  const maxTokens = request.maxTokens ?? SEARCH.maxTokens.default;
  const stageOf = async (asked: ParsedQuery): ReturnType<typeof firstStage> => {
    const selected = selectTerms(index, asked.terms);
    return inTurn(queryPostingBytes(index, selected), () => firstStage(index, asked, selected, vector));
  };
  const written = parseQuery(request);
  const first = await stageOf(written);
  const reading = await readQuery(index, request, written, first.terms);
  const query = reading?.query ?? written;
  const { terms, candidates, similar } = reading ? await stageOf(query) : first;
  const ranked = await rankFiles(index, query, terms, candidates);
  const kinds = new Set((request.kinds ?? []).map((kind) => kind.toLowerCase()));
  await addSymbols(
    index,
    ranked.filter((file, i) => i < offset + limit || needsSymbols(file, kinds)),
  );
  const found = await answeringFiles(index, query, { terms, ranked, kinds, texts });
  const chosen = found.slice(offset, offset + limit);
  await addSymbols(
    index,
    chosen.map(({ ranked: file }) => file),
  );
  const weak =
    vector === undefined
      ? weakMatch(
          index,
          query,
          terms,
          found.map(({ ranked: file }) => file),
        )
      : undefined;
  const places = placesToRead(index, query, chosen, { words: new WordEvidence(terms), maxTokens, kinds });
  const loaded = await texts(places.map((own) => wantedText(index, own)));
  const page = places.map((own, i) => ({ places: own, text: loaded[i] ?? { chunks: [], signatures: [] } }));
  const total = found.length;
  const byHash = new Map(terms.map((term) => [term.hash, term]));
  const literalsOf = (i: number): readonly string[] => chosen[i]?.literals ?? query.literals;
  const files = page.map(({ places: own, text }, i): ShownFile => {
    const { ranked: file } = own[0] as Place;
    const offers = offersOf(own, text, {
      terms: byHash,
      language: index.language(file.file),
      literals: literalsOf(i),
    });
    return { file, offers, signature: signatureOf(own, text, offers.symbol) };
  });
  const bestScore = files[0]?.file.score ?? 0;
  const packed = packExcerpts(
    files.map(({ file, offers }, i) =>
      packable(index, file, offers, { bestScore: weak ? undefined : bestScore, literals: literalsOf(i) }),
    ),
    maxTokens,
  );
  const results = files.map((file, i) =>
    resultOf(index, terms, {
      ...file,
      literals: literalsOf(i),
      ranges: packed.ranges[i] ?? [],
      isSimilar: isSimilar(index, similar, file.file),
    }),
  );
  return {
    results,
    ...(reading && reading.understood.length > 0 && { understood: reading.understood }),
    ...(weak && { weak }),
    total,
    truncated: total > offset + results.length || packed.isCut,
    tokens: packed.tokens,
    digest: index.digest,
  };
}

/** What is known of a file of the answer. */
interface ShownFile {
  file: RankedFile;
  offers: FileOffers;
  /** Of the best place's symbol. */
  signature: string;
}

/**
 * The places to read of each file: the best one, and further ones of the files whose score is near the best, as many as the budget
 * may have room for.
 */
function placesToRead(
  index: SearchIndex,
  { wanted }: ParsedQuery,
  files: readonly FoundFile[],
  { words, maxTokens, kinds }: { words: WordEvidence; maxTokens: number; kinds: ReadonlySet<string> },
): Place[][] {
  let further = Math.ceil(maxTokens / TOKENS_PER_PLACE);
  const best = files[0]?.ranked.score ?? 0;
  return files.map((found, i) => {
    const { file, score } = found.ranked;
    const isHead = !isNear(score, best);
    const count = isHead ? 1 : 1 + Math.min(MAX_PLACES - 1, further);
    const isSource = (((index.traits[file] ?? 0) | wanted) & TRAIT.test) === 0;
    const testsOf = isSource ? index.language(file) : undefined;
    const taken = placesOf(found, words, { path: index.path(file), kinds, count, isTop: i === 0, isHead, testsOf });
    further -= taken.length - 1;
    return taken;
  });
}

/** Files that score less are listed without excerpts. */
function isNear(score: number, best: number): boolean {
  return score >= best - (1 - NEAR_SHARE) * Math.abs(best);
}

function packable(
  index: SearchIndex,
  { file, score, record }: RankedFile,
  { best, symbol, lines, offers }: FileOffers,
  /** Without the score of the best file the file is only listed. */
  { bestScore, literals }: { bestScore: number | undefined; literals: readonly string[] },
): PackableFile {
  const name = symbol === undefined ? "" : (record.symbols[symbol]?.qualifiedName ?? "");
  const headCharacters = index.path(file).length + String(best.startLine).length + name.length + HEAD_FRAME;
  if (bestScore === undefined || !isNear(score, bestScore)) {
    // Where a quoted text stands is shown of every file: that it does is what was asked.
    const line = lineOfLiteral(lines, best, literals);
    return { headCharacters, lines, offers: line === undefined ? [] : [{ startLine: line, endLine: line, worth: 0 }] };
  }
  const share = bestScore <= 0 ? 1 : score / bestScore;
  return { headCharacters, lines, offers: offers.map((offer) => ({ ...offer, worth: offer.worth * share })) };
}

function signatureOf([first]: readonly Place[], text: LoadedText, symbol: number | undefined): string {
  const at = symbol === undefined ? -1 : (first?.symbols.indexOf(symbol) ?? -1);
  return at < 0 ? "" : (text.signatures[at] ?? "");
}

/** Whether a document of the file is similar by its vector. */
function isSimilar(
  { firstDocuments, endDocuments }: SearchIndex,
  similar: Float64Array | undefined,
  { file }: RankedFile,
): boolean {
  return similar?.subarray(firstDocuments[file], endDocuments[file]).some((value) => value > 0) === true;
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

function wantedText(index: SearchIndex, places: readonly Place[]): WantedText {
  const { ranked, symbols } = places[0] as Place;
  return { ...wantedChunks(index, ranked, chunksToRead(places)), symbols };
}

function resultOf(
  index: SearchIndex,
  terms: readonly ScoredTerm[],
  {
    file,
    offers,
    signature,
    ranges,
    literals,
    isSimilar,
  }: ShownFile & { ranges: readonly LineRange[]; literals: readonly string[]; isSimilar: boolean },
): SearchResult {
  const symbol = offers.symbol === undefined ? undefined : file.record.symbols[offers.symbol];
  const path = index.path(file.file);
  const matched: Match[] = [];
  const add = (kind: Match["kind"], text: string): void => {
    if (!matched.some((match) => match.kind === kind && match.text === text)) matched.push({ kind, text });
  };
  if (offers.isDefinition && file.definition) add("definition", file.definition.shown);
  if (file.isMentioned) add("mention", path);
  if (isSimilar) add("similarity", "embedding");
  for (const literal of literals) add("literal", literal);
  for (const { hash, shown: text } of terms) if (offers.terms.has(hash)) add("word", text);
  for (const word of file.pathWords) add("path", word);
  return {
    revision: index.revisionOf(file.file),
    path,
    language: index.language(file.file),
    ...offers.best,
    symbol: symbol
      ? {
          name: symbol.name,
          qualifiedName: symbol.qualifiedName,
          kind: symbol.kind,
          signature: signature === "" ? symbol.name : signature,
        }
      : null,
    score: Math.round(file.score * 10_000) / 10_000,
    excerpts: ranges.map((range) => excerptOf(range, offers, file.record)),
    matched: matched.slice(0, MAX_MATCHED),
  };
}

function excerptOf({ startLine, endLine }: LineRange, { lines }: FileOffers, record: ContentRecord): Excerpt {
  const text = lines
    .filter(({ number }) => number >= startLine && number <= endLine)
    .map((line) => line.text)
    .join("\n");
  const all = record.symbols.map((_, ordinal) => ordinal);
  const around = innermost(record, all, startLine, endLine);
  const symbol = around === undefined ? undefined : record.symbols[around]?.qualifiedName;
  return { startLine, endLine, text, ...(symbol !== undefined && { symbol }) };
}
