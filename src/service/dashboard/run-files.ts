/** Files of a revision by how they were parsed. */
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { lookUp } from "../db/look-up.ts";
import { rowsOf } from "../db/rows.ts";
import { filesAfter, type Revision } from "../revisions/files.ts";

const TESTS = {
  partial: sql`c.outcome = 'partial'`,
  fallback: sql`c.outcome like 'fallback:%'`,
  redacted: sql`c.redacted_count > 0`,
} as const satisfies Record<string, SQL>;

/** `partial`: with lines that the parser could not read. `fallback`: not parsed as its language. `redacted`: with chunks withheld. */
export type ParseOutcome = keyof typeof TESTS;
export const PARSE_OUTCOMES = Object.keys(TESTS) as ParseOutcome[];

export interface OutcomePage {
  files: { path: string; language: string; redacted: number }[];
  /** `after` of the next page; null on the last. A page may have fewer rows than its size and still not be the last. */
  next: string | null;
}

/** Files that a page looks at: outcomes have no index. */
const MAX_SCANNED = 4_000;

/** Files of a revision with this outcome, in order of path, from those after `after`. */
export async function filesByOutcome(
  db: Db,
  revision: Pick<Revision, "workspaceId" | "seq" | "baseSeq">,
  outcome: ParseOutcome,
  { after = "", limit = 100 }: { after?: string | undefined; limit?: number } = {},
): Promise<OutcomePage> {
  const [page] = await rowsOf<OutcomePage>(
    db,
    sql`
      with scanned as materialized (
        select f.path, c.language, c.redacted_count as redacted, ${TESTS[outcome]} as is_shown
        from ${filesAfter(revision, after, MAX_SCANNED)} f
          ${lookUp(sql`select language, outcome, redacted_count from contents where id = f.content_id`, "c")}
      ), page as materialized (
        select path, language, redacted from scanned where is_shown order by path limit ${limit}
      )
      select (select coalesce(json_agg(row_to_json(page) order by path), '[]') from page) as files,
        case when (select count(*) from page) = ${limit} then (select max(path) from page)
          when (select count(*) from scanned) = ${MAX_SCANNED} then (select max(path) from scanned) end as next`,
  );
  return page ?? { files: [], next: null };
}
