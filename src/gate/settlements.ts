/**
 * Settlements that come after their answers, gathered: what requests of one isolate have to settle with one tenant's gate
 * goes there in as few calls as possible.
 *
 * Requests share plain data only, never a promise: a Worker's request must not wait on the I/O of another. The first that
 * has something to settle leads: its call carries what has gathered until then, and it goes on until nothing is left. An
 * entry leaves the queue when the gate has it on disk, so a gate that dies under a call loses nothing. A leader that is
 * ended from outside is succeeded by the next request; what two leaders both send counts once.
 */
import { pause } from "../pause.ts";
import type { GateNamespace } from "./client.ts";
import { settleMany } from "./client.ts";
import type { Settlement } from "./types.ts";
import { joinSettlements, packSettlement } from "./wire.ts";

/** How long one request leads before the next one takes over: well below what the platform lets a request outlive its answer. */
const LEAD_MS = 10_000;
/** Settlements in one call. */
const MAX_BATCH = 500;
/** Entries that may wait for a gate; with more than these its callers have to settle by themselves, and wait for it. */
const MAX_QUEUED = 5_000;
const MAX_FAILURES = 4;
const RETRY_BASE_MS = 100;

interface Queue {
  /** Packed settlements by reservation, oldest first. */
  entries: Map<string, string>;
  /** Counts leaders: one that is not the last has been succeeded. */
  leader: number;
  /** Until when no other request takes over. */
  leadUntilMs: number;
}

/** One for each isolate. */
export class Settlements {
  readonly #queues = new Map<string, Queue>();
  readonly #onStuck: (tenantId: string, count: number) => void;

  /** `onStuck` hears of settlements that a gate would not take; they wait for the next request. */
  constructor(onStuck: (tenantId: string, count: number) => void = () => undefined) {
    this.#onStuck = onStuck;
  }

  /**
   * Takes a settlement over. `keepAlive` gets the work, if the caller is the one to do it. False: too many wait already, and
   * the caller has to settle by itself.
   */
  add(
    gates: GateNamespace,
    tenantId: string,
    reservationId: string,
    settlement: Settlement,
    keepAlive: (work: Promise<void>) => void,
  ): boolean {
    let queue = this.#queues.get(tenantId);
    if (!queue) this.#queues.set(tenantId, (queue = { entries: new Map(), leader: 0, leadUntilMs: -Infinity }));
    if (queue.entries.size >= MAX_QUEUED) return false;
    queue.entries.set(reservationId, packSettlement(reservationId, settlement));
    if (Date.now() >= queue.leadUntilMs) keepAlive(this.#lead(gates, tenantId, queue));
    return true;
  }

  /** What the tenant's gate may not have yet, as `usage` takes it: who asks for figures is to see what was answered before. */
  pending(tenantId: string): string {
    return joinSettlements(this.#queues.get(tenantId)?.entries.values() ?? []);
  }

  /** Sends until nothing is left or another leads. Never rejects: what could not be sent waits for the next request. */
  async #lead(gates: GateNamespace, tenantId: string, queue: Queue): Promise<void> {
    const me = ++queue.leader;
    queue.leadUntilMs = Date.now() + LEAD_MS;
    let failures = 0;
    while (queue.leader === me && queue.entries.size > 0 && failures < MAX_FAILURES) {
      if (failures > 0) await pause(RETRY_BASE_MS * 2 ** failures * (0.5 + Math.random() / 2));
      const batch = Array.from(queue.entries).slice(0, MAX_BATCH);
      const settled = await settleMany(gates, tenantId, joinSettlements(batch.map(([, packed]) => packed)));
      if (settled) for (const [reservationId] of batch) queue.entries.delete(reservationId);
      failures = settled ? 0 : failures + 1;
    }
    if (queue.leader !== me) return;
    queue.leadUntilMs = -Infinity;
    if (queue.entries.size === 0) this.#queues.delete(tenantId);
    else this.#onStuck(tenantId, queue.entries.size);
  }
}
