import { SEARCH } from "../../contract/questions.ts";
import { GlobError, typedGlob } from "../../lib/globs.ts";
import { codeNames, joinedNames, registryNames, withoutRepeatedVerbs } from "./code-names.ts";
import { readQueryText, type QuerySegment } from "./issue-text.ts";
import { foldCase, nameParts } from "./names.ts";
import { INCLUDED, splitPath, TRAIT } from "./traits.ts";
import { isLanguageName, scanTerms, stemOf } from "./scanner.ts";
import type { SearchRequest } from "./types.ts";

/** Parses a request into terms, identifiers, mentioned paths and filters. */

/** Longer queries are cut there. */
const MAX_QUERY_UNITS = 32_768;
/** Distinct terms looked up; of these the strongest are scored (score.ts). */
const MAX_TERMS = 512;
const MAX_IDENTIFIERS = 64;
const MAX_MENTIONS = 32;
const MAX_LITERALS = 8;

/** A joined identifier counts more than one of its words. */
const WHOLE_WEIGHT = 1.3;
/** Names of languages tell little: code rarely names its own language. */
const LANGUAGE_WEIGHT = 0.1;

/** The frame of a question. Its words are in no answer, and comments such as "unless an error happens" have them for another reason. */
const FRAME = /\bwhat happens(?= (?:when|if|after|on|to|with)\b)/gi;

/** A question of where to add one more of something, such as "how do I add a new command". */
const ADDS =
  /^(?:(?:how|where) (?:to|do I|can I|do we|should I) )?(?:add|register|define|create|install) (?:(?:an?|my|own|new|custom|another) ){1,3}((?:[a-z]{2,24} ){0,2}[a-z]{3,24})\??$/i;
const REGISTRY_WEIGHT = 1.2;
/** A type that has the name of the thing itself tells less. */
const THING_WEIGHT = 0.8;
/** A name that the words of a question make only when they are joined. */
const JOINED_WEIGHT = 0.6;
/** Of the word itself: what is added is elsewhere, too. */
const ADD_WEIGHT = 0.5;

export interface QueryTerm {
  hash: number;
  /** Stem of a word; a whole identifier in lower case. */
  stem: string;
  /** As written where it first occurs in the query. */
  shown: string;
  weight: number;
  /** A whole identifier of several words. */
  isWhole: boolean;
  /** Not of the query itself: left out where nothing has it. */
  isOptional?: boolean;
}

/** A name in the query that may be that of a definition. */
export interface QueryIdentifier {
  /** Last part without regard to case. */
  key: string;
  /** All parts in lower case. */
  parts: string[];
  shown: string;
  /** Weight of its segment times how clearly it is a name. */
  weight: number;
  /** Only types count. */
  isType?: boolean;
}

/** A path that the query mentions. */
export interface Mention {
  folders: string[];
  name: string;
  isFrame: boolean;
}

export interface ParsedQuery {
  terms: QueryTerm[];
  identifiers: QueryIdentifier[];
  mentions: Mention[];
  /** The text without filters and quoted texts if it is one short line; else empty. */
  title: string;
  /** Texts that must occur. */
  literals: string[];
  paths: string[];
  /** The field that an error about `paths` names. */
  pathsField: "paths" | "query";
  languages: string[];
  /** `TRAIT` bits that are not penalised for this query. */
  wanted: number;
}

const ASKS: readonly [RegExp, number][] = [
  [/\b(?:tests|specs|unit ?tests?|test (?:cases?|files?|suites?|for|of)|tested|fixtures?|mocks?)\b/i, TRAIT.test],
  [/\b(?:docs|documentation|documented|readme|changelog|guides?|tutorials?)\b/i, TRAIT.docs],
  [/\b(?:examples?|demos?|samples?|tutorials?|benchmarks?)\b/i, TRAIT.example],
  [/\b(?:legacy|deprecated|obsolete|v\d)\b/i, TRAIT.old],
  [/\bgenerated code\b/i, TRAIT.generated],
  [
    /\b(?:(?:json|ya?ml|toml|config|configuration|css) files?|workflows?|dockerfile|makefile|stylesheets?)\b/i,
    TRAIT.data,
  ],
];

/**
 * Reads a request's query and filters. The work is bounded for any query. `rewrite` changes the text outside of filters and quotes before it is
 * read. Throws `GlobError` for too many or too long path filters.
 */
export function parseQuery(request: SearchRequest, rewrite = (text: string): string => text): ParsedQuery {
  const filters = takeFilters(request.query.slice(0, MAX_QUERY_UNITS));
  checkGlobs("query", filters.paths);
  checkGlobs("paths", request.paths ?? []);
  const pathsField = request.paths?.length ? "paths" : "query";
  checkGlobs(pathsField, [...filters.paths, ...(request.paths ?? [])]);
  const asked = rewrite(filters.rest).replace(FRAME, "");
  const added = ADDS.exec(asked.trim().replaceAll(/\s+/g, " "))?.[1];
  const text = added === undefined ? asked : `add ${added}`;
  const { segments: read, frames, linkedPaths } = readQueryText(text);
  const segments = withoutRepeatedVerbs(read);
  const isTitle = segments.every(({ kind }) => kind === "title");
  for (const literal of filters.literals) segments.unshift({ kind: "title", weight: 1, text: literal });
  const terms = termsOf(segments, codeNames(segments));
  const identifiers = identifiersOf(segments);
  for (const { name } of frames) if (name !== undefined) addIdentifier(identifiers, name, 0.25);
  if (added !== undefined) {
    for (const term of terms) if (term.stem === "add") term.weight = ADD_WEIGHT;
    for (const name of registryNames(added)) addIdentifier(identifiers, name, REGISTRY_WEIGHT);
    addIdentifier(identifiers, added.replaceAll(" ", ""), THING_WEIGHT, { isType: true });
  }
  if (isTitle)
    for (const { shown, names } of segments.flatMap((segment) => joinedNames(segment.text)))
      for (const name of names) addIdentifier(identifiers, name, JOINED_WEIGHT, { shown });
  const mentions = mentionsOf(segments);
  for (const path of linkedPaths) addMention(mentions, path, false);
  for (const { path } of frames) addMention(mentions, path, true);
  return {
    terms,
    identifiers: [...identifiers.values()],
    mentions,
    title: isTitle ? text : "",
    literals: filters.literals,
    paths: [...filters.paths.map(typedGlob), ...(request.paths ?? [])],
    pathsField,
    languages: [...filters.languages, ...(request.languages ?? [])].map((language) => language.toLowerCase()),
    wanted: wantedTraits(segments, request, filters.paths),
  };
}

function checkGlobs(field: "paths" | "query", globs: readonly string[]): void {
  const { max, maxItems } = SEARCH.paths;
  if (globs.length > maxItems) throw new GlobError(field, `must have at most ${maxItems} path globs`);
  if (globs.some((glob) => glob.length > max))
    throw new GlobError(field, `a path glob must have at most ${max} characters`);
}

/** Takes `path:`, `lang:` and quoted literals out of a query of one line; in longer texts they are plain text. */
function takeFilters(query: string): { rest: string; paths: string[]; languages: string[]; literals: string[] } {
  const [paths, languages, literals]: string[][] = [[], [], []];
  const found = { paths: paths as string[], languages: languages as string[], literals: literals as string[] };
  if (query.trim().includes("\n")) return { rest: query, ...found };
  const rest = query.replace(
    /(?<![^\s])(?:(path|file|lang|language):("[^"]*"|\S+)|"([^"]+)")/g,
    (whole: string, filter: string | undefined, value: string | undefined, literal: string | undefined) => {
      if (literal !== undefined) {
        if (found.literals.length >= MAX_LITERALS) return whole;
        found.literals.push(literal);
        return " ";
      }
      const unquoted = (value ?? "").replaceAll('"', "");
      if (unquoted !== "") (filter?.startsWith("lang") === true ? found.languages : found.paths).push(unquoted);
      return " ";
    },
  );
  return { rest, ...found };
}

/** `names` are further terms, which the index may lack. */
function termsOf(segments: readonly QuerySegment[], names: readonly QuerySegment[]): QueryTerm[] {
  const terms = new Map<number, QueryTerm>();
  for (const segment of [...segments, ...names]) {
    const { text, weight } = segment;
    const isOptional = names.includes(segment);
    const put = (hash: number, start: number, end: number, isWhole: boolean): void => {
      const known = terms.get(hash);
      const factor = isWhole ? WHOLE_WEIGHT : isLanguageName(hash) ? LANGUAGE_WEIGHT : 1;
      if (known) known.weight = Math.max(known.weight, weight * factor);
      else if (terms.size < MAX_TERMS) {
        const shown = text.slice(start, end);
        terms.set(hash, {
          hash,
          stem: isWhole ? foldCase(shown) : stemOf(shown),
          shown,
          weight: weight * factor,
          isWhole,
          ...(isOptional && { isOptional }),
        });
      }
    };
    scanTerms(text, {
      word: (hash, start, end) => put(hash, start, end, false),
      whole: (hash, parts, start, end) => {
        if (parts > 1) put(hash, start, end, true);
      },
    });
  }
  return [...terms.values()];
}

const IDENTIFIER = /[\p{L}_$][\p{L}\p{N}_$]*(?:(?:\.|::|#|->)[\p{L}_$][\p{L}\p{N}_$]*)*(?:[!?](?![=\p{L}]))?\(?/gu;

function identifiersOf(segments: readonly QuerySegment[]): Map<string, QueryIdentifier> {
  const found = new Map<string, QueryIdentifier>();
  const words = segments.flatMap(({ text }) => text.split(/\s+/)).filter((word) => word !== "");
  const isSingle = words.length === 1;
  for (const { text, weight, kind } of segments) {
    let isFirst = true;
    for (const [whole] of text.matchAll(IDENTIFIER)) {
      const isCall = whole.endsWith("(");
      const name = isCall ? whole.slice(0, -1) : whole;
      const parts = nameParts(name);
      const last = parts.at(-1) ?? "";
      const clear = isSingle || isCall || kind === "inline" || parts.length > 1 || isJoined(last);
      // The first word of every sentence is capitalised.
      if (clear) addIdentifier(found, name, weight);
      else if (/^\p{Lu}\p{L}{2,}/u.test(last) && !(isFirst && kind !== "title"))
        addIdentifier(found, name, 0.2 * weight);
      for (const part of parts.slice(0, -1)) addIdentifier(found, part, 0.3 * weight);
      isFirst = false;
    }
  }
  return found;
}

/** Written as programs write names: camel case, underscores, digits inside. */
function isJoined(name: string): boolean {
  return /[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|[^_]_+[^_]|^_+\p{L}|\p{L}\p{N}/u.test(name);
}

function addIdentifier(
  found: Map<string, QueryIdentifier>,
  name: string,
  weight: number,
  { shown = name, isType }: { shown?: string; isType?: true } = {},
): void {
  const parts = nameParts(foldCase(name));
  const key = parts.at(-1);
  if (key === undefined || key.length < 2) return;
  const id = parts.join(".");
  const known = found.get(id);
  if (known) known.weight = Math.max(known.weight, weight);
  else if (found.size < MAX_IDENTIFIERS) found.set(id, { key, parts, shown, weight, ...(isType && { isType }) });
}

const PATH_TOKEN = /[\p{L}\p{N}_.@+-]+(?:[/\\][\p{L}\p{N}_.@+-]+)*/gu;

function mentionsOf(segments: readonly QuerySegment[]): Mention[] {
  const mentions: Mention[] = [];
  for (const { text } of segments)
    for (const [token] of text.matchAll(PATH_TOKEN)) {
      const path = token.replace(/\.{1,100}$/, "");
      if (/\.[A-Za-z]\w{0,7}$/.test(path)) addMention(mentions, path, false);
    }
  return mentions;
}

function addMention(mentions: Mention[], path: string, isFrame: boolean): void {
  if (mentions.length >= MAX_MENTIONS) return;
  const { folders, name } = splitPath(path.replaceAll("\\", "/").replace(/^(?:\.{0,2}\/)+/, ""));
  if (name !== "") mentions.push({ folders: folders.filter((folder) => folder !== ""), name, isFrame });
}

/** Traits the query asks for: in its first line, by `include`, or by a path filter that names such a folder. */
function wantedTraits(segments: readonly QuerySegment[], request: SearchRequest, paths: readonly string[]): number {
  let wanted = 0;
  const title = segments
    .filter(({ kind }) => kind === "title")
    .map(({ text }) => text)
    .join(" ");
  const isShort = segments.every(({ kind }) => kind === "title");
  const named = [...paths, ...(request.paths ?? [])].join(" ").replaceAll(/[_*/.]/g, " ");
  for (const [pattern, trait] of ASKS) {
    if (isShort && pattern.test(title)) wanted |= trait;
    if (pattern.test(named)) wanted |= trait;
  }
  for (const kind of request.include ?? []) wanted |= INCLUDED[kind];
  const languages = request.languages ?? [];
  if (languages.some((language) => /^(?:markdown|rst|rdoc|asciidoc|text|html)$/i.test(language)))
    wanted |= TRAIT.docs | TRAIT.data;
  if (languages.some((language) => /^(?:json|yaml|toml|xml|ini|css|sql|go-mod)$/i.test(language))) wanted |= TRAIT.data;
  return wanted;
}
