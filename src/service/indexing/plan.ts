/**
 * The first step of a run: finds the wanted commit, pulls unknown blobs, and stages them for the shards.
 * One streaming pull serves the whole run. Shards read their blobs from object storage, so the git host and its credential are
 * needed in this step only, and servers without filters or `want <blob>` need no special case.
 */
import { and, desc, eq, gt } from "drizzle-orm";
import { MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import { revisions } from "../db/schema.ts";
import { connect, type GitSession, oidBytes, TreeStore } from "../../engines/git/index.ts";
import { BlobSink } from "./blob-sink.ts";
import { stageChanges } from "./changes.ts";
import type { ShardReady, StepContext } from "./context.ts";
import { planKey } from "./ids.ts";
import { listCandidates, type Listing, resolveKnown } from "./listing.ts";
import { currentRevision, type Revision } from "../revisions/files.ts";
import type { RunSpec } from "../db/run-spec.ts";
import { isWhole } from "../hosted-index/whole-texts/store.ts";
import {
  getBytes,
  getJson,
  compress,
  decompress,
  type LeftOut,
  type PlanSummary,
  putJson,
  skipsKey,
  summaryKey,
  treesKey,
} from "./staging.ts";

type PlanOutcome =
  | { outcome: "unchanged"; revision: Revision; ref: string | null }
  | { outcome: "planned"; shards: number; filesTotal: number };

/** Whether the run's commit becomes the current revision. A snapshot run leaves the current revision as it is. */
const makesCurrent = ({ kind, options }: RunSpec): boolean => kind === "index" && options.current !== false;

/** Plans a run. Throws `GitError` when the repository cannot be pulled. */
export async function plan(step: StepContext, onShard: ShardReady): Promise<PlanOutcome> {
  const { run, db } = step;
  const session = await openSession(step);
  const target = await session.resolve(run.source.ref);
  const current = await currentRevision(db, run.workspaceId);
  const key = planKey(run.options);
  const known = makesCurrent(run)
    ? [current]
    : await db
        .select()
        .from(revisions)
        .where(and(eq(revisions.workspaceId, run.workspaceId), eq(revisions.gitSha, target.oid), gt(revisions.seq, 0)))
        .orderBy(desc(revisions.seq));
  const same = known.find(
    (revision) =>
      revision?.gitSha === target.oid &&
      revision.planKey === key &&
      revision.fingerprint === step.embedder.fingerprint &&
      isWhole(revision.textList),
  );
  if (same) return { outcome: "unchanged", revision: same, ref: target.refName };
  // Without a file list of the base, the whole tree is looked at, and texts that are not stored are pulled.
  const comparable = current !== undefined && current.planKey === key && isWhole(current.textList);

  const base = current && (await loadBase(step, current, session.objectFormat));
  const sink = new BlobSink(step, oidBytes(session.objectFormat), onShard);
  let listing: Listing | undefined;
  const pulled = await session.pull({
    commit: target.oid,
    ...(base ? { have: { commit: base.commit, trees: base.trees } } : {}),
    // Files above the limit of the options are searched, though not indexed.
    maxBlobBytes: MAX_FILE_SIZE_BYTES,
    plan: async (trees, rootTree) => {
      listing = listCandidates(run.options, { trees, root: rootTree }, comparable ? base : undefined);
      const wanted = await resolveKnown(step, listing, sink);
      await step.beat({ filesDone: 0, filesTotal: listing.fileCount });
      return wanted;
    },
    onProgress: step.mark,
    // The sink copies what it keeps.
    borrowBlobs: true,
    onBlob: (oid, data) => sink.add(oid, data),
    onOversize: (oid, size) => {
      sink.blobs.setSkip(oid, "too_large");
      if (size !== undefined) sink.blobs.setSize(oid, size);
    },
  });
  if (!listing) throw new Error("the pull ended without a tree");

  await sink.flush();
  const incremental = comparable && base !== undefined;
  const changes = await stageChanges(step, listing, sink, incremental ? undefined : current);
  const otherModel = incremental && current.fingerprint !== step.embedder.fingerprint;
  await sink.stageUnembedded(changes.reused, otherModel ? current : undefined);
  const leftOut = mergeLeftOut(incremental ? base.leftOut : NOTHING_LEFT_OUT, listing, changes.skips);
  if (makesCurrent(run)) {
    await step.staging.put(treesKey(run.workspaceId, run.runId), await compress(pulled.trees.encode(pulled.rootTree)));
    await putJson(step.staging, skipsKey(run.workspaceId, run.runId), leftOut);
  }
  const summary: PlanSummary = {
    current: makesCurrent(run),
    ref: target.refName,
    commit: target.oid,
    rootTree: pulled.rootTree,
    defaultBranch: target.defaultBranch,
    planKey: key,
    fingerprint: step.embedder.fingerprint,
    baseSeq: current?.seq ?? null,
    puts: changes.puts,
    freshFiles: changes.freshFiles,
    skipped: countSkipped(leftOut),
    changeObjects: changes.objects,
    baseList: incremental ? current.textList : null,
  };
  await putJson(step.staging, summaryKey(run.runId, step.attempt), summary);
  step.log.info("planned", {
    shards: sink.shards,
    files: listing.fileCount,
    puts: changes.puts,
    receivedBytes: pulled.stats.receivedBytes,
  });
  return { outcome: "planned", shards: sink.shards, filesTotal: listing.fileCount };
}

async function openSession(step: StepContext): Promise<GitSession> {
  const { url, auth } = step.run.source;
  return connect(
    { url, ...(auth === undefined ? {} : { auth: await step.openAuth(auth) }) },
    { fetch: step.fetch, hosts: step.gitHosts },
  );
}

/** Whether a commit is already indexed with vectors of the current model, in a revision that is still kept. */
export async function isIndexed(step: StepContext, gitSha: string): Promise<boolean> {
  const { db, run, embedder } = step;
  const rows = await db
    .select({ seq: revisions.seq })
    .from(revisions)
    .where(
      and(
        eq(revisions.workspaceId, run.workspaceId),
        eq(revisions.gitSha, gitSha),
        gt(revisions.seq, 0),
        eq(revisions.fingerprint, embedder.fingerprint),
      ),
    )
    .limit(1);
  return rows.length > 0;
}

/** Loads the trees and skips of a revision. Undefined if they are missing or damaged; the trees are then pulled again. */
async function loadBase(step: StepContext, revision: Revision, format: GitSession["objectFormat"]) {
  try {
    const bytes = await getBytes(step.staging, treesKey(revision.workspaceId, revision.runId));
    if (!bytes) return undefined;
    const leftOut = await getJson<LeftOut>(step.staging, skipsKey(revision.workspaceId, revision.runId));
    const trees = TreeStore.decode(await decompress(bytes), format);
    // An attempt that failed after the switch may have stored the trees of another commit under the same key.
    if (!trees.has(revision.rootTree)) return undefined;
    return { commit: revision.gitSha, root: revision.rootTree, trees, leftOut };
  } catch (error) {
    step.log.warn("stored_trees_unreadable", {
      runId: revision.runId,
      reason: error instanceof Error ? error.name : "unknown",
    });
    return undefined;
  }
}

const NOTHING_LEFT_OUT: LeftOut = { byName: {}, byContent: [] };

/** Combines the skips of this run with those of the base, except for paths that this run looked at. */
function mergeLeftOut(base: LeftOut, listing: Listing, found: Map<string, string>): LeftOut {
  const byName = new Map(Object.entries(base.byName));
  for (const [reason, change] of listing.leftOut) byName.set(reason, (byName.get(reason) ?? 0) + change);
  const looked = new Set(listing.deletes);
  if (base.byContent.length > 0) for (const { path } of listing.files) looked.add(path);
  return {
    byName: Object.fromEntries([...byName].filter(([, count]) => count > 0)),
    byContent: [...base.byContent.filter(([path]) => !looked.has(path)), ...found],
  };
}

function countSkipped({ byName, byContent }: LeftOut): Record<string, number> {
  const counts = { ...byName };
  for (const [, reason] of byContent) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}
