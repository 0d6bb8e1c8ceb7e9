/**
 * Receivers that forged deliveries were sent to a moment ago, so that the next ones cost no query. A genuine delivery is never decided by them:
 * receivers and their secrets are created and deleted together.
 */
export class RecentlyForged<Receiver extends { id: string }> {
  readonly #seen = new Map<string, { receiver: Receiver; readAt: number }>();

  get(id: string): Receiver | undefined {
    const seen = this.#seen.get(id);
    return seen !== undefined && Math.abs(Date.now() - seen.readAt) <= KEPT_MS ? seen.receiver : undefined;
  }

  add(receiver: Receiver): void {
    if (this.#seen.size >= MAX_KEPT) this.#seen.clear();
    this.#seen.set(receiver.id, { receiver, readAt: Date.now() });
  }

  delete(id: string): void {
    this.#seen.delete(id);
  }
}

const MAX_KEPT = 1_000;
const KEPT_MS = 60_000;
