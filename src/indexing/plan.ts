/**
 * The first step of a run: find the wanted commit, pull what is not known, and stage it for the shards.
 * One streaming pull serves the whole run: a shard reads its blobs from object storage, so neither the git host nor its
 * credential is needed again, and a server without filters or `want <blob>` is no special case.
 */
import { and, eq } from "drizzle-orm";
import { revisions, workspaces } from "../db/schema.ts";
import { connect, type GitSession, oidBytes, TreeStore } from "../git/index.ts";
import { BlobSink } from "./blob-sink.ts";
import { stageChanges } from "./changes.ts";
import type { Revision, ShardReady, StepContext } from "./context.ts";
import { planKey } from "./ids.ts";
import { listCandidates, type Listing, resolveKnown } from "./listing.ts";
import {
  getBytes,
  getJson,
  gunzip,
  gzip,
  type PlanSummary,
  putJson,
  skipsKey,
  summaryKey,
  treesKey,
} from "./staging.ts";

export type PlanOutcome =
  | { outcome: "unchanged"; revision: Revision }
  | { outcome: "planned"; shards: number; filesTotal: number };

/** Plans a run. Throws `GitError` when the repository cannot be pulled. */
export async function plan(step: StepContext, onShard: ShardReady): Promise<PlanOutcome> {
  const { run } = step;
  const session = await openSession(step);
  const target = await session.resolve(run.source.ref);
  const current = await currentRevision(step);
  const key = planKey(run.options);
  const comparable = current !== undefined && current.planKey === key;
  if (comparable && current.gitSha === target.oid && current.fingerprint === step.embedder.fingerprint) {
    return { outcome: "unchanged", revision: current };
  }

  const base = current && (await loadBase(step, current, session.objectFormat));
  const sink = new BlobSink(step, oidBytes(session.objectFormat), onShard);
  let listing: Listing | undefined;
  const pulled = await session.pull({
    commit: target.oid,
    ...(base ? { have: { commit: base.commit, trees: base.trees } } : {}),
    maxBlobBytes: run.options.maxFileSizeBytes,
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
    onOversize: (oid) => sink.blobs.setSkip(oid, "too_large"),
  });
  if (!listing) throw new Error("the pull ended without a tree");

  await sink.flush();
  const incremental = comparable && base !== undefined;
  const changes = await stageChanges(step, listing, sink, current !== undefined && !incremental);
  const otherModel = incremental && current.fingerprint !== step.embedder.fingerprint;
  await sink.stageUnembedded(changes.reused, otherModel ? current : undefined);
  const skips = incremental ? mergeSkips(base.skips, listing, changes.skips) : changes.skips;
  await step.staging.put(treesKey(run.workspaceId, run.runId), await gzip(pulled.trees.encode(pulled.rootTree)));
  await putJson(step.staging, skipsKey(run.workspaceId, run.runId), [...skips]);
  const summary: PlanSummary = {
    commit: target.oid,
    rootTree: pulled.rootTree,
    defaultBranch: target.defaultBranch,
    planKey: key,
    fingerprint: step.embedder.fingerprint,
    baseSeq: current?.seq ?? null,
    puts: changes.puts,
    freshFiles: changes.freshFiles,
    skipped: countBy(skips.values()),
    changeObjects: changes.objects,
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
  const token = auth && (await step.openToken(auth.sealed));
  return connect(
    {
      url,
      ...(token === undefined
        ? {}
        : { auth: { token, ...(auth?.username === undefined ? {} : { username: auth.username }) } }),
    },
    { fetch: step.fetch, allowLocal: step.allowLocalGit },
  );
}

/** Whether a commit is indexed already, with vectors of the current model, in a revision that is still kept. */
export async function isIndexed(step: StepContext, gitSha: string): Promise<boolean> {
  const { db, run, embedder } = step;
  const rows = await db
    .select({ seq: revisions.seq })
    .from(revisions)
    .where(
      and(
        eq(revisions.workspaceId, run.workspaceId),
        eq(revisions.gitSha, gitSha),
        eq(revisions.fingerprint, embedder.fingerprint),
      ),
    )
    .limit(1);
  return rows.length > 0;
}

/** The revision that readers see now. */
export async function currentRevision(step: Pick<StepContext, "db" | "run">): Promise<Revision | undefined> {
  const rows = await step.db
    .select({ revision: revisions })
    .from(workspaces)
    .innerJoin(revisions, and(eq(revisions.workspaceId, workspaces.id), eq(revisions.seq, workspaces.currentSeq)))
    .where(eq(workspaces.id, step.run.workspaceId));
  return rows[0]?.revision;
}

/** The trees of a revision and what it left out, if they are still there and whole; else the trees are pulled again. */
async function loadBase(step: StepContext, revision: Revision, format: GitSession["objectFormat"]) {
  const bytes = await getBytes(step.staging, treesKey(revision.workspaceId, revision.runId));
  if (!bytes) return undefined;
  try {
    const skips = await getJson<[string, string][]>(step.staging, skipsKey(revision.workspaceId, revision.runId));
    const trees = TreeStore.decode(await gunzip(bytes), format);
    // An attempt that failed after the switch may have left trees of another commit under the run's name.
    if (!trees.has(revision.rootTree)) return undefined;
    return { commit: revision.gitSha, root: revision.rootTree, trees, skips };
  } catch (error) {
    step.log.warn("stored_trees_unreadable", {
      runId: revision.runId,
      reason: error instanceof Error ? error.name : "unknown",
    });
    return undefined;
  }
}

/** What the base left out, where this run did not look again, and what this run leaves out. */
function mergeSkips(before: [string, string][], listing: Listing, found: Map<string, string>): Map<string, string> {
  const looked = new Set([
    ...Array.from(listing.files, (file) => file.path),
    ...listing.deletes,
    ...listing.skips.keys(),
  ]);
  return new Map([...before.filter(([path]) => !looked.has(path)), ...found]);
}

function countBy(values: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
