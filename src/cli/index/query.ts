import type { StoredSymbol } from "./store.ts";
import type { IndexStore } from "./store.ts";
import { belongsTo, contentIdOf, ordinalOf } from "./schema.ts";

export interface FoundSymbol extends StoredSymbol {
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

/**
 * Symbols of the work tree by name (`save`) or qualified name (`User.save`, `User::save`): exact ones, or else those that
 * differ in case, or else those that begin with the name. In order of path and line.
 */
export function findSymbols(
  store: IndexStore,
  worktree: number,
  query: SymbolQuery,
): { symbols: FoundSymbol[]; truncated: boolean } {
  const last = query.name.split(/[.:#/\\]+/).findLast((part) => part !== "") ?? query.name;
  const qualified = last !== query.name;
  // An exact name that looks qualified (a heading, a file-like key) is found as it is.
  const attempts: [string, string[]][] = [
    ["s.name = ?1 collate nocase and s.name = ?1", [query.name]],
    ...(qualified
      ? ([
          [
            "s.name = ?1 collate nocase and (s.qualified_name = ?2 or s.qualified_name like '%' || ?3 escape '\\')",
            [last, query.name, escapeLike(query.name)],
          ],
        ] as [string, string[]][])
      : []),
    ["s.name = ?1 collate nocase", [query.name]],
    ["s.name like ?1 escape '\\'", [`${escapeLike(query.name)}%`]],
  ];
  for (const [condition, values] of attempts) {
    const sql = `select ${SYMBOL_COLUMNS}, f.path
      from symbols s join worktree_files f on f.content_id = ${contentIdOf("s")} and f.worktree_id = ${worktree}
      where ${condition} ${query.kind === undefined ? "" : `and s.kind = ?${values.length + 1}`}
      order by f.path, s.start_line limit ${query.limit + 1}`;
    const found = store
      .prepare(sql)
      .all(...values, ...(query.kind === undefined ? [] : [query.kind])) as unknown as FoundSymbol[];
    if (found.length > 0) return { symbols: found.slice(0, query.limit), truncated: found.length > query.limit };
  }
  return { symbols: [], truncated: false };
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, String.raw`\$&`);
}

/** Names that resemble one that was not found, for a hint. */
export function similarNames(store: IndexStore, worktree: number, name: string): string[] {
  const rows = store
    .prepare(
      `select distinct s.name from symbols s join worktree_files f on f.content_id = ${contentIdOf("s")} and f.worktree_id = ?1
       where s.name like ?2 escape '\\' order by length(s.name), s.name limit 5`,
    )
    .all(worktree, `%${escapeLike(name)}%`) as { name: string }[];
  return rows.map((row) => row.name);
}

export interface IndexedFile {
  contentId: number;
  sha256: Uint8Array;
  language: string;
  lineCount: number;
  skip: string | null;
}

export function indexedFile(store: IndexStore, worktree: number, path: string): IndexedFile | undefined {
  return store
    .prepare(
      `select c.id as contentId, c.sha256, c.language, c.line_count as lineCount, c.skip
       from worktree_files f join contents c on c.id = f.content_id where f.worktree_id = ? and f.path = ?`,
    )
    .get(worktree, path) as unknown as IndexedFile | undefined;
}

export function symbolsOf(store: IndexStore, contentId: number): StoredSymbol[] {
  const rows = store
    .prepare(`select ${SYMBOL_COLUMNS}, s.id from symbols s where ${belongsTo("s", "?1")} order by s.id`)
    .all(contentId) as unknown as (StoredSymbol & { id: number })[];
  return rows.map(({ id, ...symbol }, position) => {
    if (ordinalOf(id) !== position) throw new RangeError(`symbol ${id} is out of order`);
    return symbol;
  });
}
