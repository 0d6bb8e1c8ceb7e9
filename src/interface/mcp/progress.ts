/** Progress of an index that a tool waits for, as the protocol's notifications. */
import type { ServerContext } from "@modelcontextprotocol/server";

/** Clients show the last one; more often is noise. */
const INTERVAL_MS = 500;

/** Gets the number of files that are indexed, and of all that are to be. */
export type IndexingListener = (done: number, total: number) => void;

/**
 * A listener that notifies the client of a request that asked for progress, at most twice a second and only of more than before, as
 * the protocol requires. Undefined if it did not ask.
 */
export function progressOf(
  { mcpReq: { _meta: meta, notify } }: ServerContext,
  now: () => number,
): IndexingListener | undefined {
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let sentAt = -Infinity;
  let sent = 0;
  return (done, total) => {
    if (done <= sent || now() - sentAt < INTERVAL_MS) return;
    sentAt = now();
    sent = done;
    const params = { progressToken, progress: done, total, message: `Indexing: ${done} of ${total} files` };
    // A client that is gone gets no answer either.
    notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}
