/** The lines of a file as they were indexed, put together from its chunks. */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { filesOf } from "../indexing/revision-files.ts";
import type { Target } from "./targets.ts";

export interface FileText {
  language: string;
  lineCount: number;
  /** 1-based and inclusive; both 0 for an empty file, `endLine` below `startLine` for a range behind its end. */
  startLine: number;
  endLine: number;
  text: string;
  withheld: [number, number][];
}

interface FileRow {
  language: string;
  line_count: number;
  chunks: { text: string; start: number; end: number; withheld: boolean }[] | null;
}

/**
 * Lines `start` to `end` of a file; undefined where the revision has no such path. Chunks cover every line that is not blank, once
 * and in order, so the lines between them are empty. Lines of withheld chunks are empty too, and listed.
 */
export async function readFile(
  db: Db,
  target: Target,
  path: string,
  start = 1,
  end = Number.MAX_SAFE_INTEGER,
): Promise<FileText | undefined> {
  const last = Math.min(end, 2 ** 31 - 1);
  const [row] = await rowsOf<FileRow>(
    db,
    sql`select c.language, c.line_count, (
          select json_agg(json_build_object('text', k.text, 'start', k.start_line, 'end', k.end_line, 'withheld', k.withheld) order by k.ordinal)
          from chunks k where k.content_id = c.id and k.end_line >= ${Math.min(start, last)}::int and k.start_line <= ${last}::int
        ) as chunks
        from ${filesOf(target)} f join contents c on c.id = f.content_id where f.path = ${path} collate "C"`,
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
