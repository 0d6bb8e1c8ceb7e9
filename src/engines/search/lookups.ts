import { SYMBOLS } from "../../contract/questions.ts";
import { editDistance } from "../../lib/near-name.ts";
import { COMPONENT } from "../parsing/component-names.ts";
import { COMPONENT_ORDINAL, definingFiles, definitionsNamed, definitionsOf } from "./component-files.ts";
import { type FileFilter, symbolsOf, TEXT_KINDS, type NamedFile } from "./definitions.ts";
import { endsWithParts, foldCase, nameKey, nameParts } from "./names.ts";
import { isAside } from "./traits.ts";
import type { SymbolPlace } from "./record.ts";
import type { SearchIndex } from "./search-index.ts";
import type { FoundSymbol, OutlineAnswer, SymbolAnswer, SymbolRequest, TextSource, WantedText } from "./types.ts";

/** Look-ups by name and by file. */

/** Longer names are cut to this length. */
const MAX_NAME_UNITS = 300;
const MIN_FUZZY_UNITS = 2;
/** Longer names are not compared letter by letter. */
const MAX_COMPARED_UNITS = 60;
/** Beginning that a name shares with the wanted one if it is compared although the wanted one is a prefix of others. */
const SHARED_UNITS = 4;
/** How many times longer a name may be that only contains the wanted letters in order. */
const MAX_STRETCH = 2;

/**
 * Definitions by name: exact, else by prefix unless another name is one letter away, else fuzzy, best match first, then by path and line. Throws what `texts` throws, and
 * `SearchFormatError` if the index is damaged.
 */
export async function findSymbols(
  index: SearchIndex,
  request: SymbolRequest,
  texts: TextSource,
): Promise<SymbolAnswer> {
  const name = request.name.trim().slice(0, MAX_NAME_UNITS);
  const limit = request.limit ?? SYMBOLS.limit.default;
  const { path } = request;
  const isWanted = path === undefined ? undefined : (file: number) => index.path(file) === path;
  const attempts = request.match === undefined ? (["exact", "prefix", "fuzzy"] as const) : [request.match];
  for (const match of attempts) {
    const found = name === "" ? [] : await MATCHES[match](index, name, isWanted);
    const wanted = found.filter(
      ({ symbol, file }) => (request.kind === undefined || symbol.kind === request.kind) && isWanted?.(file) !== false,
    );
    const isLast = match === attempts.at(-1);
    if (!isLast && (wanted.length === 0 || (match === "prefix" && (await hasNeighbour(index, name))))) continue;
    const symbols = await withSignatures(index, wanted.slice(0, limit), texts);
    return { symbols, total: wanted.length, match, truncated: wanted.length > limit };
  }
  return { symbols: [], total: 0, match: "exact", truncated: false };
}

interface Found {
  file: number;
  ordinal: number;
  symbol: SymbolPlace;
}

const MATCHES = { exact: findExact, prefix: findPrefix, fuzzy: findFuzzy };

/** Compares case-sensitively first, else without case. The symbol's qualified name must end with the wanted one. */
async function findExact(index: SearchIndex, name: string, isWanted?: FileFilter): Promise<Found[]> {
  const parts = nameParts(foldCase(name));
  const keys = new Set([nameKey(name, ""), nameKey(name, "heading")]);
  const named: NamedFile[] = [];
  for (const key of keys) named.push(...(await definingFiles(index, key, isWanted)));
  const candidates = await resolve(index, named);
  const found = candidates.filter(
    ({ symbol }) =>
      foldCase(symbol.name) === foldCase(name) || endsWithParts(nameParts(foldCase(symbol.qualifiedName)), parts),
  );
  if (found.length === 0) return withinPaths(index, candidates, name);
  const exactParts = nameParts(name);
  const sameCase = found.filter(
    ({ symbol }) => symbol.name === name || endsWithParts(nameParts(symbol.qualifiedName), exactParts),
  );
  return (sameCase.length > 0 ? sameCase : found).sort(byImportance(index));
}

/**
 * Symbols whose qualified name is the end of the wanted one. The rest may be a module or package (`requests.sessions.Session`) or a
 * scope that a macro opens, and no symbol has these as its parent; a part of the rest must be in the path. The longest qualified name comes
 * first, then the path that contains most of the rest.
 */
function withinPaths(index: SearchIndex, candidates: readonly Found[], name: string): Found[] {
  const parts = nameParts(name);
  const own = (found: Found): number => nameParts(found.symbol.qualifiedName).length;
  const inPath = (found: Found): number => {
    const path = new Set(nameParts(foldCase(index.path(found.file))));
    return parts.slice(0, -own(found)).filter((part) => path.has(foldCase(part))).length;
  };
  const order = byImportance(index);
  return candidates
    .filter((found) => inPath(found) > 0 && endsWithParts(parts, nameParts(found.symbol.qualifiedName)))
    .sort((a, b) => own(b) - own(a) || inPath(b) - inPath(a) || order(a, b));
}

async function findPrefix(index: SearchIndex, name: string): Promise<Found[]> {
  const key = nameKey(name, "");
  const outer = nameParts(foldCase(name)).slice(0, -1);
  const named = await definitionsNamed(index, key, () => true);
  const found = (await resolve(index, named)).filter(({ symbol }) =>
    endsWithParts(nameParts(foldCase(symbol.qualifiedName)).slice(0, -1), outer),
  );
  // The shortest names are closest to what was typed.
  const order = byImportance(index);
  return found.sort((a, b) => a.symbol.name.length - b.symbol.name.length || order(a, b));
}

/** Whether a name that does not begin with the wanted one is one letter away: `timingSafeEqual` of `timingSafeEquals`. */
async function hasNeighbour(index: SearchIndex, name: string): Promise<boolean> {
  const key = nameKey(name, "");
  if (key.length <= SHARED_UNITS) return false;
  const isNear = (candidate: string): boolean => !candidate.startsWith(key) && wrongLetters(candidate, key, 1) === 1;
  return (await definitionsNamed(index, key.slice(0, SHARED_UNITS), isNear)).length > 0;
}

/** Letters that are wrong, missing, added or swapped; undefined if there are more than `most`. */
function wrongLetters(candidate: string, key: string, most: number): number | undefined {
  if (key.length > MAX_COMPARED_UNITS || Math.abs(candidate.length - key.length) > most) return undefined;
  // Most names are refused by their letters, before the comparison that takes the product of the lengths.
  let strange = 0;
  for (const letter of candidate) if (!key.includes(letter) && ++strange > most) return undefined;
  const wrong = editDistance(candidate, key);
  return wrong <= most ? wrong : undefined;
}

/** How many letters of a name may be wrong: none of three, one of four to seven, two of eight or more. */
const mostWrong = (key: string): number => Math.min(2, Math.floor(key.length / 4));

/**
 * Names with a few wrong letters, names that contain the wanted one's words in any order, or its letters in order. Of a qualified name, those in
 * the same scope come first, then the scope itself: its outline shows what it has instead.
 */
async function findFuzzy(index: SearchIndex, name: string): Promise<Found[]> {
  const key = nameKey(name, "");
  const words = foldCase(name.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2"))
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length >= MIN_FUZZY_UNITS);
  if (key.length < MIN_FUZZY_UNITS) return [];
  const passes = (candidate: string): boolean =>
    (words.length > 0 && words.every((word) => candidate.includes(word))) ||
    hasLettersInOrder(candidate, key) ||
    wrongLetters(candidate, key, mostWrong(key)) !== undefined;
  const found = await resolve(index, await definitionsNamed(index, "", passes));
  // A name of three letters with one wrong letter is found only if it has them in order, but is nearer then than one that contains them.
  const most = Math.max(1, mostWrong(key));
  const rank = ({ symbol }: Found): number => {
    const own = foldCase(symbol.name);
    const wrong = wrongLetters(nameKey(symbol.name, ""), key, most);
    if (wrong !== undefined) return wrong - most - 1;
    if (own.includes(key)) return 0;
    return words.length > 0 && words.every((word) => own.includes(word)) ? 1 : 2;
  };
  const order = byImportance(index);
  found.sort((a, b) => rank(a) - rank(b) || a.symbol.name.length - b.symbol.name.length || order(a, b));
  const outer = nameParts(name).slice(0, -1);
  // The scope alone is no name that is similar to that of a member.
  if (outer.length === 0 || found.length === 0) return found;
  const scope = (await findExact(index, outer.join("."))).slice(0, 1);
  const isInside = ({ symbol }: Found): boolean =>
    endsWithParts(nameParts(foldCase(symbol.qualifiedName)).slice(0, -1), outer.map(foldCase));
  const others = found.filter(
    (each) => !scope.some(({ file, ordinal }) => file === each.file && ordinal === each.ordinal),
  );
  const inside = others.filter(isInside);
  return [...inside, ...scope, ...others.filter((each) => !isInside(each))];
}

function hasLettersInOrder(text: string, letters: string): boolean {
  if (text[0] !== letters[0] || text.length > MAX_STRETCH * letters.length) return false;
  let at = 0;
  for (let i = 0; i < text.length && at < letters.length; i++) if (text[i] === letters[at]) at++;
  return at === letters.length;
}

/** Kinds that only tell what a type consists of. */
const MEMBER_KINDS: ReadonlySet<string> = new Set(["field", "enum_member"]);

/**
 * Definitions of code before headings and keys, sources before tests and docs, bodies before prototypes, types and functions before fields and
 * enum members; else in order of path and line.
 */
function byImportance(index: SearchIndex): (a: Found, b: Found) => number {
  const rank = ({ file, symbol }: Found): number =>
    (TEXT_KINDS.has(symbol.kind) ? 4 : 0) +
    (isAside(index.path(file), index.traits[file] as number) ? 2 : 0) +
    (MEMBER_KINDS.has(symbol.kind) || isPrototype(symbol, index.language(file)) ? 1 : 0);
  return (a, b) => rank(a) - rank(b) || inOrder(a, b);
}

/** A function of one line in C or C++ is most likely a declaration. */
function isPrototype({ kind, startLine, endLine }: SymbolPlace, language: string): boolean {
  return (
    startLine === endLine && (kind === "function" || kind === "method") && (language === "c" || language === "cpp")
  );
}

function inOrder(a: Found, b: Found): number {
  return a.file - b.file || a.symbol.startLine - b.symbol.startLine || a.ordinal - b.ordinal;
}

/** The symbols behind name entries, in order of path and line. */
async function resolve(index: SearchIndex, named: readonly NamedFile[]): Promise<Found[]> {
  const symbols = await definitionsOf(index, named);
  const found = named.flatMap(({ file, entry }, i): Found[] => {
    const symbol = symbols[i]?.at(entry.symbol);
    return symbol ? [{ file, ordinal: entry.symbol, symbol }] : [];
  });
  const seen = new Set<string>();
  return found.sort(inOrder).filter(({ file, ordinal }) => {
    const id = `${file} ${ordinal}`;
    return !seen.has(id) && seen.add(id);
  });
}

/** Definitions at known places of the first revision, in the order given; what is not there any more is left out. */
export async function symbolsAt(
  index: SearchIndex,
  places: readonly Pick<FoundSymbol, "path" | "startLine" | "qualifiedName">[],
  texts: TextSource,
  revision = 0,
): Promise<FoundSymbol[]> {
  const files = [...new Set(places.map(({ path }) => path))].flatMap((path) => {
    const file = index.fileAt(revision, path);
    return file === undefined ? [] : [{ path, file }];
  });
  const symbols = await definitionsOf(index, files);
  const found = places.flatMap(({ path, startLine, qualifiedName }): Found[] => {
    const at = files.findIndex((own) => own.path === path);
    const own = symbols[at] ?? [];
    const place = own.findIndex((symbol) => symbol.startLine === startLine && symbol.qualifiedName === qualifiedName);
    const symbol = own[place];
    if (!symbol) return [];
    const ordinal = symbol.kind === COMPONENT ? COMPONENT_ORDINAL : place;
    return [{ file: (files[at] as { file: number }).file, ordinal, symbol }];
  });
  return withSignatures(index, found, texts);
}

async function withSignatures(index: SearchIndex, found: readonly Found[], texts: TextSource): Promise<FoundSymbol[]> {
  const wanted = found.map(({ file, ordinal }) => wantedSymbols(index, file, [ordinal]));
  const loaded = wanted.length === 0 ? [] : await texts(wanted);
  return found.map(({ file, symbol }, i) => ({
    revision: index.revisionOf(file),
    path: index.path(file),
    language: index.language(file),
    name: symbol.name,
    qualifiedName: symbol.qualifiedName,
    kind: symbol.kind,
    signature: loaded[i]?.signatures[0] || symbol.name,
    startLine: symbol.startLine,
    endLine: symbol.endLine,
  }));
}

function wantedSymbols(index: SearchIndex, file: number, symbols: readonly number[]): WantedText {
  return {
    ...index.contentKey(file),
    revision: index.revisionOf(file),
    path: index.path(file),
    chunks: [],
    symbols: symbols.filter((ordinal) => ordinal !== COMPONENT_ORDINAL),
  };
}

/** The symbols of a file in order of line; undefined if the revision has no such path. */
export async function outlineOf(
  index: SearchIndex,
  revision: number,
  path: string,
  texts: TextSource,
): Promise<OutlineAnswer | undefined> {
  const file = index.fileAt(revision, path);
  if (file === undefined) return undefined;
  const [symbols = []] = await symbolsOf(index, [{ file }]);
  const all = symbols.map((_, ordinal) => ordinal);
  const [loaded] = all.length === 0 ? [] : await texts([wantedSymbols(index, file, all)]);
  return { language: index.language(file), symbols: outlineFrom(symbols, loaded?.signatures ?? []) };
}

/** The outline of a file from its symbols and their signatures, both by ordinal. */
export function outlineFrom(symbols: readonly SymbolPlace[], signatures: readonly string[]): OutlineAnswer["symbols"] {
  const outline = symbols.map((symbol, ordinal) => ({
    name: symbol.name,
    qualifiedName: symbol.qualifiedName,
    kind: symbol.kind,
    signature: signatures[ordinal] || symbol.name,
    startLine: symbol.startLine,
    endLine: symbol.endLine,
    depth: depthOf(symbols, ordinal),
  }));
  return outline.sort((a, b) => a.startLine - b.startLine || b.endLine - a.endLine || a.depth - b.depth);
}

function depthOf(symbols: readonly Pick<SymbolPlace, "parent">[], ordinal: number): number {
  let depth = 0;
  for (let parent = symbols[ordinal]?.parent ?? null; parent !== null && depth < symbols.length; depth++)
    parent = symbols[parent]?.parent ?? null;
  return depth;
}
