import { belongsTo } from "./schema.ts";
import type { IndexStore } from "./store.ts";

/** How long contents that no worktree uses are kept, for branch switches and deleted worktrees. */
const UNUSED_KEPT_MS = 30 * 24 * 3_600_000;

/** Deletes contents that no worktree has used for 30 days. Must be called within a transaction. */
export function collectGarbage(store: IndexStore, nowMs: number): void {
  const used = "id in (select content_id from worktree_files)";
  store.prepare(`update contents set unused_since = null where unused_since is not null and ${used}`).run();
  store.prepare(`update contents set unused_since = ? where unused_since is null and not ${used}`).run(nowMs);
  const old = store.prepare("select id from contents where unused_since < ?").all(nowMs - UNUSED_KEPT_MS) as {
    id: number;
  }[];
  if (old.length === 0) return;
  removeContents(
    store,
    old.map(({ id }) => id),
  );
  store.prepare("delete from vectors where chunk_hash not in (select hash from chunks)").run();
}

/** Deletes contents with everything except vectors. Must be called within a transaction. */
export function removeContents(store: IndexStore, ids: readonly number[]): void {
  for (const id of ids) {
    store.prepare("delete from parsed where content_id = ?").run(id);
    store.prepare(`delete from chunks where ${belongsTo("chunks", "?1")}`).run(id);
    store.prepare("delete from contents where id = ?").run(id);
  }
  if (ids.length > 0) store.prepare("delete from blobs where content_id not in (select id from contents)").run();
}
