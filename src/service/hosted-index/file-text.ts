/** A file as it was indexed, from the database: its symbols, and its lines where no whole text is stored, put together from chunks. */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { lookUp } from "../db/look-up.ts";
import { rowsOf } from "../db/rows.ts";
import type { SymbolPlace } from "../../engines/search/record.ts";
import type { FileLines } from "../../interface/questions/code-index.ts";
import { contentsAt } from "../revisions/content-at.ts";
import type { Target } from "./targets.ts";

interface FileRow {
  language: string;
  line_count: number;
  chunks: { text: string; start: number; end: number; withheld: boolean }[] | null;
}

const MAX_LINE = 2 ** 31 - 1;

/** `f.content_id` of one path, if the revision has it. */
const fileAt = (target: Target, path: string) => contentsAt([{ ...target, path }], [["at", "int", () => 0]]);

/**
 * Lines `start` to `end` of a file; undefined if the revision has no such path. Chunks cover every line that is not blank, once
 * and in order, so the lines between them are empty. Lines of withheld chunks are empty too, and listed.
 */
export async function readFile(
  db: Db,
  target: Target,
  path: string,
  start = 1,
  end = MAX_LINE,
): Promise<FileLines | undefined> {
  const last = Math.min(end, MAX_LINE);
  const [row] = await rowsOf<FileRow>(
    db,
    sql`select c.language, c.line_count, (
          select json_agg(json_build_object('text', k.text, 'start', k.start_line, 'end', k.end_line, 'withheld', k.withheld) order by k.ordinal)
          from chunks k where k.content_id = c.id and k.end_line >= ${Math.min(start, last)}::int and k.start_line <= ${last}::int
        ) as chunks
        from ${fileAt(target, path)} ${lookUp(sql`select * from contents where id = f.content_id`, "c")}`,
  );
  if (!row) return undefined;
  const lineCount = row.line_count;
  const lines = new Map<number, string>();
  const withheld: [number, number][] = [];
  for (const chunk of row.chunks ?? []) {
    if (chunk.withheld) withheld.push([Math.max(chunk.start, start), Math.min(chunk.end, last)]);
    else for (const [i, line] of chunk.text.split("\n").entries()) lines.set(chunk.start + i, line);
  }
  const first = Math.min(start, lineCount + 1);
  const until = Math.min(last, lineCount);
  const text: string[] = [];
  for (let line = first; line <= until; line++) text.push(lines.get(line) ?? "");
  return {
    language: row.language,
    lineCount,
    startLine: lineCount === 0 ? 0 : first,
    endLine: until,
    text: text.join("\n"),
    withheld,
  };
}

/** Symbols of a file and their signatures, by ordinal; undefined if the revision has no such path. */
export async function readOutline(
  db: Db,
  target: Target,
  path: string,
): Promise<{ language: string; symbols: SymbolPlace[]; signatures: string[] } | undefined> {
  const [row] = await rowsOf<{ language: string; symbols: (SymbolPlace & { signature: string })[] | null }>(
    db,
    sql`select c.language, (
          select json_agg(json_build_object('kind', s.kind, 'name', s.name, 'qualifiedName', s.qualified_name, 'parent', s.parent,
            'startLine', s.start_line, 'endLine', s.end_line, 'signature', s.signature) order by s.ordinal)
          from symbols s where s.content_id = c.id
        ) as symbols
        from ${fileAt(target, path)} ${lookUp(sql`select * from contents where id = f.content_id`, "c")}`,
  );
  if (!row) return undefined;
  const symbols = row.symbols ?? [];
  return { language: row.language, symbols, signatures: symbols.map(({ signature }) => signature) };
}
