/** Reads contents back from the database in the form the engine indexes. */
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { arrayOf } from "../db/arrays.ts";
import { rowsOf } from "../db/rows.ts";
import type { SourceContent } from "../../engines/search/types.ts";

/** A content with the id of its row. */
export interface StoredContent extends SourceContent {
  id: string;
}

interface ContentRow {
  id: string;
  sha256: string;
  language: string;
  chunks: { text: string; start: number; end: number; withheld: boolean }[] | null;
  symbols:
    | {
        kind: string;
        name: string;
        qualified: string;
        parent: number | null;
        start: number;
        end: number;
        doc: string | null;
      }[]
    | null;
}

/** Contents by their ids, in the order of the ids. Those that are gone are left out. */
export async function loadContents(db: Db, ids: readonly string[]): Promise<StoredContent[]> {
  const rows = await rowsOf<ContentRow>(
    db,
    sql`select c.id, encode(c.sha256, 'hex') as sha256, c.language, ${chunksOf()} as chunks, ${symbolsOf()} as symbols
        from contents c where c.id = any(${arrayOf(ids, "uuid")})`,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return row === undefined ? [] : [contentOf(row)];
  });
}

const chunksOf = (): SQL => sql`(
  select json_agg(json_build_object('text', k.text, 'start', k.start_line, 'end', k.end_line, 'withheld', k.withheld) order by k.ordinal)
  from chunks k where k.content_id = c.id)`;

const symbolsOf = (): SQL => sql`(
  select json_agg(json_build_object('kind', s.kind, 'name', s.name, 'qualified', s.qualified_name, 'parent', s.parent,
    'start', s.start_line, 'end', s.end_line, 'doc', s.doc) order by s.ordinal)
  from symbols s where s.content_id = c.id)`;

function contentOf({ id, sha256, language, chunks, symbols }: ContentRow): StoredContent {
  return {
    id,
    sha256,
    language,
    chunks: (chunks ?? []).map(({ text, start, end, withheld }) => ({
      text,
      startLine: start,
      endLine: end,
      withheld,
    })),
    symbols: (symbols ?? []).map(({ kind, name, qualified, parent, start, end, doc }) => ({
      kind,
      name,
      qualifiedName: qualified,
      parent,
      startLine: start,
      endLine: end,
      doc,
    })),
  };
}
