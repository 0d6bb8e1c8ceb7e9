import { comparePaths } from "../../snapshot/format/types.ts";
import { listBases } from "./bases.ts";
import { belongsTo, contentIdOf, intact, ordinalOf } from "./schema.ts";
import type { CodeSymbol } from "../../parsing/types.ts";
import type { IndexStore } from "./store.ts";
import { IndexDamagedError, verified } from "./verified.ts";

export interface FoundSymbol extends CodeSymbol {
  path: string;
}

const SYMBOL_COLUMNS = `s.kind, s.name, s.qualified_name as qualifiedName, s.signature, s.doc, s.parent,
  s.start_line as startLine, s.end_line as endLine, s.start_byte as startByte, s.end_byte as endByte`;

export interface SymbolQuery {
  name: string;
  kind?: string | undefined;
  limit: number;
}

export function worktreeId(store: IndexStore, root: string): number | undefined {
  const row = store.prepare("select id from worktrees where root = ?").get(root) as { id: number } | undefined;
  return row?.id;
}

/** Letters of ASCII made small, as SQLite compares without regard to case. */
function folded(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** A way to match names: the same for rows of the tables and for symbols of base layers. */
interface Attempt {
  condition: string;
  values: string[];
  matches: (symbol: { name: string; qualifiedName: string }) => boolean;
}

function attemptsFor(wanted: string, last: string): Attempt[] {
  const [small, smallLast] = [folded(wanted), folded(last)];
  const qualified: Attempt = {
    condition: "s.name = ?1 collate nocase and (s.qualified_name = ?2 or s.qualified_name like '%' || ?3 escape '\\')",
    values: [last, wanted, escapeLike(wanted)],
    matches: (s) => folded(s.name) === smallLast && folded(s.qualifiedName).endsWith(small),
  };
  return [
    // An exact name that looks qualified (a heading, a file-like key) is found as it is.
    {
      condition: "s.name = ?1 collate nocase and s.name = ?1",
      values: [wanted],
      matches: ({ name }) => name === wanted,
    },
    ...(last === wanted ? [] : [qualified]),
    { condition: "s.name = ?1 collate nocase", values: [wanted], matches: ({ name }) => folded(name) === small },
    {
      condition: "s.name like ?1 escape '\\'",
      values: [`${escapeLike(wanted)}%`],
      matches: ({ name }) => folded(name).startsWith(small),
    },
  ];
}

/**
 * Symbols of the work tree by name (`save`) or qualified name (`User.save`, `User::save`): exact ones, or else those that
 * differ in case, or else those that begin with the name. In order of path and line.
 */
export async function findSymbols(
  store: IndexStore,
  worktree: number,
  { name, kind, limit }: SymbolQuery,
): Promise<{ symbols: FoundSymbol[]; truncated: boolean }> {
  const last = name.split(/[.:#/\\]+/).findLast((part) => part !== "") ?? name;
  const [small, smallLast] = [folded(name), folded(last)];
  const layered = await layeredSymbols(store, worktree, (candidate) => {
    const lower = folded(candidate);
    return lower.startsWith(small) || lower === smallLast;
  });
  for (const { condition, values, matches } of attemptsFor(name, last)) {
    const sql = `select ${SYMBOL_COLUMNS}, f.path, ${intact("symbols", "s")} and ${intact("worktree_files", "f")} as intact
      from symbols s join worktree_files f on f.content_id = ${contentIdOf("s")} and f.worktree_id = ${worktree}
      where ${condition} ${kind === undefined ? "" : `and s.kind = ?${values.length + 1}`}
      order by f.path, s.start_line limit ${limit + 1}`;
    const stored = store
      .prepare(sql)
      .all(...values, ...(kind === undefined ? [] : [kind]))
      .map((row) => verified<FoundSymbol>(row));
    const found = [...stored, ...layered.filter((s) => matches(s) && (kind === undefined || s.kind === kind))].sort(
      (a, b) => comparePaths(a.path, b.path) || a.startLine - b.startLine,
    );
    if (found.length > 0) return { symbols: found.slice(0, limit), truncated: found.length > limit };
  }
  return { symbols: [], truncated: false };
}

/** Symbols of the work tree that base layers hold, by name, once for each path with their content. */
async function layeredSymbols(
  store: IndexStore,
  worktree: number,
  test: (name: string) => boolean,
): Promise<FoundSymbol[]> {
  if (listBases(store).length === 0) return [];
  const { baseSymbols } = await import("./base-symbols.ts");
  const findPaths = store.prepare("select path from worktree_files where content_id = ? and worktree_id = ?");
  const found: FoundSymbol[] = [];
  for (const { contentId, ...symbol } of await baseSymbols(store, test)) {
    for (const { path } of findPaths.all(contentId, worktree) as { path: string }[]) found.push({ ...symbol, path });
  }
  return found;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, String.raw`\$&`);
}

const MAX_SIMILAR = 5;

/** Names that resemble one that was not found, for a hint. */
export async function similarNames(store: IndexStore, worktree: number, name: string): Promise<string[]> {
  const rows = store
    .prepare(
      `select distinct s.name from symbols s join worktree_files f on f.content_id = ${contentIdOf("s")} and f.worktree_id = ?1
       where s.name like ?2 escape '\\' order by length(s.name), s.name limit ${MAX_SIMILAR}`,
    )
    .all(worktree, `%${escapeLike(name)}%`) as { name: string }[];
  const small = folded(name);
  const layered = await layeredSymbols(store, worktree, (candidate) => folded(candidate).includes(small));
  return [...new Set([...rows, ...layered].map((symbol) => symbol.name))]
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .slice(0, MAX_SIMILAR);
}

export interface IndexedFile {
  contentId: number;
  sha256: Uint8Array;
  language: string;
  skip: string | null;
}

export function indexedFile(store: IndexStore, worktree: number, path: string): IndexedFile | undefined {
  const row = store
    .prepare(
      `select c.id as contentId, c.sha256, c.language, c.skip, ${intact("contents", "c")} and ${intact("worktree_files", "f")} as intact
       from worktree_files f join contents c on c.id = f.content_id where f.worktree_id = ? and f.path = ?`,
    )
    .get(worktree, path);
  return row && verified<IndexedFile>(row);
}

export async function symbolsOf(store: IndexStore, contentId: number): Promise<CodeSymbol[]> {
  const rows = store
    .prepare(
      `select ${SYMBOL_COLUMNS}, s.id, ${intact("symbols", "s")} as intact from symbols s where ${belongsTo("s", "?1")} order by s.id`,
    )
    .all(contentId)
    .map((row) => verified<CodeSymbol & { id: number }>(row));
  if (rows.length === 0 && listBases(store).length > 0) {
    const { baseSymbolsOf } = await import("./base-symbols.ts");
    return (await baseSymbolsOf(store, contentId)) ?? [];
  }
  return rows.map(({ id, ...symbol }, position) => {
    if (ordinalOf(id) !== position) throw new IndexDamagedError("a symbol is missing");
    return symbol;
  });
}
