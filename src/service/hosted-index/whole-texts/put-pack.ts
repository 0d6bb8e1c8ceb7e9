import type { PackBuilder } from "../../../engines/texts/pack.ts";
import { objectId } from "../store.ts";
import type { SearchWriter } from "../write.ts";
import { PACK_ID_PREFIX, packKey } from "./store.ts";

/** What is needed to write texts. */
export type TextWriter = Pick<SearchWriter, "db" | "bucket" | "beat">;

/** Writes a pack and returns its id. */
export async function putPack(writer: TextWriter, tenantId: string, pack: PackBuilder): Promise<string> {
  const bytes = pack.finish();
  const id = objectId(PACK_ID_PREFIX, bytes);
  await writer.bucket.put(packKey(tenantId, id), bytes);
  await writer.beat();
  return id;
}
