/**
 * The indexing queues of a deployment: the binding `INDEX_QUEUE`, and `INDEX_QUEUE_2`, `INDEX_QUEUE_3` and so on where a configuration has
 * them. One queue feeds at most 250 concurrent consumers, so several let more runs work at once (docs/scale.md).
 */
import type { QueueMessage } from "./messages.ts";

/** The subset of a queue's binding that is used. */
interface IndexQueue {
  send(message: QueueMessage, options?: { delaySeconds?: number }): Promise<unknown>;
}

const BINDING = /^INDEX_QUEUE(?:_(\d{1,3}))?$/;

/** The queue of a workspace. A message in the queue of another configuration is still consumed: steps name their run, not their queue. */
export function queueOf(env: object, workspaceId: string): IndexQueue {
  const queues = Object.entries(env)
    .flatMap(([name, queue]) => {
      const match = BINDING.exec(name);
      return match && queue ? [{ number: Number(match[1] ?? 1), queue: queue as IndexQueue }] : [];
    })
    .toSorted((a, b) => a.number - b.number);
  // The first digits of a random UUID are evenly distributed.
  const chosen = queues[Number.parseInt(workspaceId.slice(0, 8), 16) % queues.length];
  if (!chosen) throw new Error("no indexing queue is bound, or the workspace's id is not a UUID");
  return chosen.queue;
}
