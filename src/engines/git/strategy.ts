import { corrupt, GitError } from "./errors.ts";
import type { GitLimits } from "./limits.ts";
import type { PullRequest, PullState } from "./pull.ts";

/** Features that may be requested from a server. Refusals are recorded here for the session. */
export interface PullLimits {
  filter: boolean;
  /** `blob:limit` in particular (some servers support only `blob:none`). */
  blobLimit: boolean;
  shallow: boolean;
  anyWant: boolean;
}

/** Rounds in which missing trees or full packs are requested again. */
const MAX_ROUNDS = 4;
/** Batch size of the last retries: small, so that few blobs of a batch are deltas of one another. */
const SMALL_BATCH = 64;

const WITHOUT_BLOBS = "blob:none";

/** True for the errors with which servers answer a filter they do not support. */
function refusesFilter(error: unknown): boolean {
  return error instanceof GitError && (error.code === "PROTOCOL" || (error.code === "NETWORK" && error.status >= 500));
}

/** Fetches all trees, makes the plan, fetches the blobs. Returns the root tree's id. @throws GitError */
export async function runPull(
  state: PullState,
  may: PullLimits,
  request: PullRequest,
  limits: GitLimits,
): Promise<string> {
  const { commit } = request;
  const have = request.have !== undefined && request.have.commit !== commit ? request.have.commit : undefined;
  const shallow = may.shallow;
  state.fetchTrees = async () => {
    if (!may.filter) return false;
    try {
      await state.fetchPack({ wants: [commit], shallow, filter: WITHOUT_BLOBS }, true);
    } catch (error) {
      if (!refusesFilter(error)) throw error;
      may.filter = false;
    }
    return state.tracker.complete;
  };
  await firstRequest(state, may, request, have);
  await completeTrees(state, may, commit);
  await state.makePlan();
  await completeBlobs(state, may, commit, limits);
  if (state.rootTree === undefined) throw corrupt("no root tree");
  return state.rootTree;
}

async function firstRequest(
  state: PullState,
  may: PullLimits,
  request: PullRequest,
  have: string | undefined,
): Promise<void> {
  const { commit } = request;
  const shallow = may.shallow;
  // The commit has not changed: all of its trees are known.
  if (request.have !== undefined && have === undefined) return;
  for (;;) {
    const byLimit = may.filter && may.blobLimit && request.have === undefined;
    // blob:limit=n leaves out blobs of n bytes and more.
    const filter = !may.filter ? undefined : byLimit ? `blob:limit=${request.maxBlobBytes + 1}` : WITHOUT_BLOBS;
    try {
      await state.fetchPack({ wants: [commit], shallow, filter, have }, filter === WITHOUT_BLOBS);
      state.filtered = byLimit;
      return;
    } catch (error) {
      if (filter === undefined || state.blobs > 0 || !refusesFilter(error)) throw error;
      if (byLimit) may.blobLimit = false;
      else may.filter = false;
    }
  }
}

/** Requests trees that a thin or filtered pack omitted. */
async function completeTrees(state: PullState, may: PullLimits, commit: string): Promise<void> {
  const { tracker } = state;
  const shallow = may.shallow;
  for (let round = 0; !tracker.complete && round < MAX_ROUNDS; round++) {
    const before = tracker.missing().length;
    if (round === 0 && state.rootTree === undefined && may.filter) {
      // Only the commit: with `have`, all of its trees may be known already.
      await state.fetchPack({ wants: [commit], shallow, filter: "tree:0" }, true);
    } else if (state.rootTree !== undefined && may.filter && may.anyWant) {
      try {
        await state.fetchPack({ wants: tracker.missing(), shallow: false, filter: WITHOUT_BLOBS }, true);
      } catch (error) {
        if (!(error instanceof GitError) || error.code !== "REF_NOT_FOUND") throw error;
        may.anyWant = false;
      }
    } else {
      await state.fetchPack({ wants: [commit], shallow, filter: may.filter ? WITHOUT_BLOBS : undefined }, may.filter);
    }
    if (round > 0 && tracker.missing().length >= before && before > 0) break;
  }
  if (state.rootTree === undefined) throw new GitError("REF_NOT_FOUND", `${commit} is not a commit of this repository`);
  if (!tracker.complete) state.missing(`${tracker.missing().length} of the commit's trees`);
}

/** Requests the wanted blobs and the missing delta bases until everything is delivered. */
async function completeBlobs(state: PullState, may: PullLimits, commit: string, limits: GitLimits): Promise<void> {
  const { remaining, pending } = state;
  if (remaining === undefined) throw corrupt("no plan");
  for (let round = 0; may.anyWant && remaining.size > 0 && round < MAX_ROUNDS; round++) {
    const unknown = state.dropped > 0 || state.lostObjects > 0;
    if (state.filtered && pending.size === 0 && !unknown) return state.reportOversize();
    // Blobs that the filter omitted are oversize: request only missing delta bases.
    const onlyBases = state.filtered && !unknown;
    const wants = onlyBases || round < 1 ? pending.bases() : [];
    if (!onlyBases) {
      if (round > 0) pending.clear();
      wants.push(...remaining);
    }
    const size = round === 0 ? limits.wantsPerRequest : round === 1 ? SMALL_BATCH : 1;
    try {
      await fetchWants(state, wants, size);
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== "REF_NOT_FOUND") throw error;
      may.anyWant = false;
    }
    if (!onlyBases) state.filtered = false;
  }
  // Servers that accept only commits as wants: fetch the whole pack again, now that the wanted blobs are known.
  for (let round = 0; !may.anyWant && remaining.size > 0 && round < MAX_ROUNDS; round++) {
    const unknown = state.dropped > 0 || state.lostObjects > 0 || pending.size > 0;
    if (state.filtered && !unknown) return state.reportOversize();
    const before = remaining.size + pending.size;
    const filter = may.filter && may.blobLimit ? `blob:limit=${state.maxBlobBytes + 1}` : undefined;
    state.dropped = 0;
    state.lostObjects = 0;
    await state.fetchPack({ wants: [commit], shallow: may.shallow, filter });
    state.filtered = filter !== undefined;
    if (remaining.size + pending.size >= before && round > 0) break;
  }
  if (remaining.size === 0) return;
  // The remaining blobs are deltas whose base is too large to hold.
  if (state.lostObjects > 0 || state.filtered) return state.reportOversize();
  state.missing(`${remaining.size} of the wanted blobs`);
}

async function fetchWants(state: PullState, wants: readonly string[], size: number): Promise<void> {
  const asked = new Set(wants);
  let batch: string[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await state.fetchPack({ wants: batch, shallow: false });
    batch = [];
  };
  for (const oid of asked) {
    // An earlier batch may have delivered it already.
    if (state.remaining?.has(oid) !== true && !state.pending.has(oid)) continue;
    batch.push(oid);
    if (batch.length === size) await flush();
  }
  await flush();
}
