/** Repairs the texts of a revision of which a reader has found something damaged. */
import { sql } from "drizzle-orm";
import type { ListedFile } from "../../../engines/texts/file-list.ts";
import { SearchFormatError } from "../../../engines/search/types.ts";
import { arrayOf } from "../../db/arrays.ts";
import { rowsOf } from "../../db/rows.ts";
import { isIntact } from "../repair.ts";
import type { TextWriter } from "./put-pack.ts";
import { DAMAGED_LIST_PREFIX, isListed, listKey, packKey } from "./store.ts";
import { openList, putList } from "./writer.ts";

/** `marked`: what cannot be read is marked in the list, and the next run pulls it again. */
export type TextRepair = "marked" | "whole";

/**
 * Reads every pack and the list of a revision. Texts of a damaged pack are forgotten, so that the next run pulls and stores them again,
 * and the list says until then that they are damaged. Idempotent.
 */
export async function repairTexts(
  writer: TextWriter,
  { tenantId, workspaceId, seq }: { tenantId: string; workspaceId: string; seq: number },
): Promise<TextRepair> {
  const { db, bucket } = writer;
  const [row] = await rowsOf<{ text_list: string | null; text_packs: string[] | null }>(
    db,
    sql`select text_list, text_packs from revisions where workspace_id = ${workspaceId} and seq = ${seq}`,
  );
  const list = row?.text_list ?? null;
  if (!isListed(list)) return "whole";
  const damaged = new Set<string>();
  for (const id of row?.text_packs ?? []) {
    if (!(await isIntact(bucket, packKey(tenantId, id), id))) damaged.add(id);
    await writer.beat();
  }
  const isListWhole = await isIntact(bucket, listKey(tenantId, list), list);
  if (damaged.size === 0 && isListWhole) return "whole";
  if (damaged.size > 0)
    await db.execute(
      sql`delete from texts where tenant_id = ${tenantId} and pack = any(${arrayOf([...damaged], "text")})`,
    );
  const written = isListWhole ? await markDamaged(writer, tenantId, list, damaged) : undefined;
  const packs = written ? arrayOf(written.packs, "text") : sql`null::text[]`;
  await db.execute(sql`update revisions set text_list = ${written?.list ?? null}, text_packs = ${packs}
    where workspace_id = ${workspaceId} and seq = ${seq} and text_list = ${list}`);
  return "marked";
}

/** Undefined if the list cannot be read. */
async function markDamaged(writer: TextWriter, tenantId: string, id: string, damaged: ReadonlySet<string>) {
  try {
    const files = [...(await openList(writer, tenantId, id))];
    for (const file of files) {
      if (file.text && damaged.has(file.text.pack))
        Object.assign(file, { state: "not_searched", reason: "damaged", text: null } satisfies Partial<ListedFile>);
    }
    return await putList(writer, tenantId, files, DAMAGED_LIST_PREFIX);
  } catch (error) {
    if (error instanceof SearchFormatError) return undefined;
    throw error;
  }
}
