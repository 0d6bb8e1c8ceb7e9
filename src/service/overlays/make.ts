/** The indexer's side of overlays: indexes the edits and writes their revision. Repeating it changes nothing. */
import { and, eq, sql } from "drizzle-orm";
import type { IndexOptions } from "../../contract/index.ts";
import { DEFAULT_MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import type { Db } from "../db/client.ts";
import { overlays, runs } from "../db/schema.ts";
import type { RunSpec } from "../db/run-spec.ts";
import { BlobSink } from "../indexing/blob-sink.ts";
import { stageChanges } from "../indexing/changes.ts";
import { searchWriter, type StepContext } from "../indexing/context.ts";
import { resolveKnown } from "../indexing/listing.ts";
import { addTotals, NO_TOTALS, type Totals, toStats, totalsOf } from "../indexing/result.ts";
import { changeOfTotals, insertRevision, type PendingRevision, writeChanges } from "../indexing/revision-writes.ts";
import { processShard } from "../indexing/shard.ts";
import { changesKey, type FileChanges, getJson, removePrefix, type StagingBucket } from "../indexing/staging.ts";
import { writeTable } from "../hosted-index/write.ts";
import { type ListChanges, writeFileList } from "../hosted-index/whole-texts/writer.ts";
import { type Revision, revisionAt } from "../revisions/files.ts";
import { runPrefix } from "../runs/messages.ts";
import type { StepUsage } from "../runs/state.ts";
import { listEdits } from "./edits.ts";
import { editsKey, type EditedFiles } from "./requests.ts";

/** Bytes of the git ids of edits. */
const ID_BYTES = 20;
const ATTEMPT = 1;

interface MakeDeps {
  db: Db;
  /** Bucket of the edits that are not indexed yet. */
  edits: StagingBucket;
  /** Builds what a run's steps need. */
  stepOf: (run: RunSpec) => StepContext;
}

/**
 * Indexes a pending overlay. Returns the embedding work that it took; undefined if it is made already, or gone. Throws what the steps of
 * a run throw.
 */
export async function makeOverlay(deps: MakeDeps, tenantId: string, overlayId: string): Promise<StepUsage | undefined> {
  const { db, edits } = deps;
  const [overlay] = await db
    .select()
    .from(overlays)
    .where(and(eq(overlays.id, overlayId), eq(overlays.tenantId, tenantId), eq(overlays.state, "pending")));
  if (!overlay) return undefined;
  const { workspaceId, seq, editedSeq } = overlay;
  const edited = await revisionAt(db, workspaceId, editedSeq);
  if (!edited) {
    await failOverlay(db, overlayId);
    return undefined;
  }
  const [run] = await db.select({ request: runs.request }).from(runs).where(eq(runs.id, edited.runId));
  const options = {
    maxFileSizeBytes: DEFAULT_MAX_FILE_SIZE_BYTES,
    ...(run?.request as Requested | undefined)?.options,
  };
  const actor = overlay.credentialId;
  const step = deps.stepOf({
    runId: overlayId,
    tenantId,
    workspaceId,
    kind: "index",
    source: { url: "" },
    options,
    actor,
  });
  const files = await getJson<EditedFiles>(edits, editsKey(tenantId, overlayId));
  const objects = await indexEdits(step, files);
  const target: PendingRevision = { workspaceId, seq, baseSeq: edited.baseSeq ?? edited.seq, current: false };
  const parts: ListChanges[] = [];
  for (let part = 0; part < objects; part++) {
    const changes = await getJson<FileChanges>(step.staging, changesKey(overlayId, ATTEMPT, part));
    await writeChanges(db, target, changes);
    parts.push(changes.list);
  }
  await copyDifferences(db, target, edited);
  const totals = addTotals(await mainTotals(db, target), await changeOfTotals(db, target));
  const texts = await writeFileList(searchWriter(step), tenantId, edited.textList, inTurn(parts));
  const table = await writeTable(searchWriter(step), { tenantId, workspaceId, seq, baseSeq: target.baseSeq }, 0);
  const revision = {
    ...edited,
    runId: overlayId,
    totals,
    stats: { ...edited.stats, ...toStats(totals, {}, texts.searchedOnly) },
    table,
    texts,
  };
  await db.execute(sql`with made as (
      update overlays set state = 'ready' where id = ${overlayId} and state = 'pending' returning id
    ) ${insertRevision(target, revision, sql`made`)}`);
  await removePrefix(step.staging, runPrefix(overlayId, ATTEMPT));
  await edits.delete(editsKey(tenantId, overlayId));
  return step.usage;
}

/** Gives an overlay up: who waits for it is told to send the edits again. */
export async function failOverlay(db: Db, overlayId: string): Promise<void> {
  await db.execute(sql`update overlays set state = 'failed' where id = ${overlayId} and state = 'pending'`);
}

interface Requested {
  options?: IndexOptions;
}

/** Parses and stores the contents as the plan and the shards of a run do. Returns the number of staged objects of changes. */
async function indexEdits(step: StepContext, files: EditedFiles): Promise<number> {
  const { listing, blobs } = listEdits(step.run.options, files);
  const shards: string[] = [];
  const sink = new BlobSink(step, ID_BYTES, async (_shard, key) => void shards.push(key));
  for (const oid of await resolveKnown(step, listing, sink)) {
    const bytes = blobs.get(oid);
    if (bytes) await sink.add(oid, bytes);
  }
  await sink.flush();
  const changes = await stageChanges(step, listing, sink, undefined);
  await sink.stageUnembedded(changes.reused, undefined);
  for (const key of shards) await processShard(step, key);
  return changes.objects;
}

/** Takes over the differences of a base that is itself beside the main line, except for the edited paths. */
async function copyDifferences(db: Db, target: PendingRevision, edited: Revision): Promise<void> {
  if (edited.baseSeq === null) return;
  await db.execute(sql`insert into revision_overlays (workspace_id, seq, path, content_id, git_oid, mode)
    select workspace_id, ${target.seq}::int, path, content_id, git_oid, mode from revision_overlays
    where workspace_id = ${target.workspaceId} and seq = ${edited.seq} on conflict do nothing`);
}

async function mainTotals(db: Db, { workspaceId, baseSeq }: PendingRevision): Promise<Totals> {
  const main = baseSeq === null || baseSeq === 0 ? undefined : await revisionAt(db, workspaceId, baseSeq);
  return main ? totalsOf(main) : NO_TOTALS;
}

async function* inTurn<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
