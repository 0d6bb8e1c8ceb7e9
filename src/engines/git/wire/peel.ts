import type { Advertisement } from "./advertisement.ts";
import { GitError } from "../errors.ts";
import type { HttpTransport } from "./http.ts";
import { headerField, OBJ_COMMIT, OBJ_TAG, oidBytes } from "../object.ts";
import { PackReader } from "../pack/pack-reader.ts";
import type { PackSink } from "../pack/pack-sink.ts";
import { PendingDeltas } from "../pack/pending.ts";
import { openPack } from "./request.ts";
import { withRetries } from "./retry.ts";
import { ObjectRing } from "../pack/ring.ts";
import type { Operation } from "../operation.ts";

const RING_BYTES = 256 * 1024;

/** Fetches a commit without its trees to check that it exists; peels a tag object to its commit. Requires filter support. */
export async function peelCommit(
  transport: HttpTransport,
  operation: Operation,
  advertisement: Advertisement,
  oid: string,
): Promise<string> {
  const { objectFormat } = advertisement;
  const { limits } = transport;
  const commits = new Set<string>();
  const tags = new Map<string, string>();
  const sink: PackSink = {
    object(type, id, buf, start, end) {
      if (type === OBJ_COMMIT) commits.add(id);
      else if (type === OBJ_TAG) tags.set(id, headerField(buf.subarray(start, end), "object"));
    },
    oversize: () => undefined,
    lost: () => undefined,
    pressure: () => Promise.resolve(),
    satisfied: () => false,
    progress: () => undefined,
    tree: () => undefined,
  };
  try {
    await withRetries(operation, limits.attempts, async () => {
      const request = { wants: [oid], shallow: true, filter: "tree:0" };
      const { source, packets } = await openPack(transport, operation, advertisement, request);
      try {
        const ring = new ObjectRing(RING_BYTES, oidBytes(objectFormat));
        const pending = new PendingDeltas(limits.pendingDeltaBytes);
        await new PackReader(source, sink, objectFormat, limits, ring, pending, RING_BYTES).run();
      } finally {
        packets.cancel();
      }
    });
  } catch (error) {
    // A server that rejects the filter still answers the real request.
    if (error instanceof GitError && error.code === "PROTOCOL") return oid;
    throw error;
  }
  let target: string | undefined = oid;
  while (target !== undefined && !commits.has(target)) target = tags.get(target);
  if (target === undefined) throw new GitError("REF_NOT_FOUND", `${oid} is not a commit`);
  return target;
}
