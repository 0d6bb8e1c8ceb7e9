import type { IndexStore } from "./store.ts";

/** Identifies the snapshot in the index, for comparison with the answer to a probe. */
export interface KnownSnapshot {
  repo: string;
  gitSha: string;
  sizeBytes: number;
  fingerprint: string;
}

const KEY = "snapshot";

export function saveKnownSnapshot(store: IndexStore, snapshot: KnownSnapshot): void {
  store.setMeta(KEY, JSON.stringify(snapshot));
}

export function knownSnapshot(store: IndexStore): KnownSnapshot | undefined {
  return (JSON.parse(store.getMeta(KEY) ?? "null") as KnownSnapshot | undefined) ?? undefined;
}

export function clearKnownSnapshot(store: IndexStore): void {
  store.prepare("delete from meta where key = ?").run(KEY);
}
