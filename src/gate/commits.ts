/**
 * When a tenant gate's rows are written. A commit makes the disk wait, and far longer than what it carries takes, so it is to
 * carry much: what somebody waits for goes at once or with the commit after the one under way, what nobody waits for goes
 * along, or in its time.
 */
import { pause } from "../pause.ts";

/** Pause before the next commit when several ask for it. */
const SPACING_MS = 2;
/** Shortest time between commits that no client waits for. */
const SOON_MS = 40;
/** Changes that nobody at all waits for are committed with others, or after this time. */
const LATER_MS = 50;

/** The part of a Durable Object's storage that is used, and the rows that go there. */
export interface CommitTarget {
  /** Whether there are changes to write. */
  isDirty(): boolean;
  /** Writes them, all or none. Memory must not run ahead of the rows: on a failure the object has to start over from them. */
  write(): void;
  /** Resolves when what was written is on disk. */
  sync(): Promise<void>;
}

export class Commits {
  readonly #target: CommitTarget;
  /** Resolves when what was decided so far is written. */
  #gathering: Promise<void> | undefined;
  /** Resolves when the last commit is on disk and the next may follow. */
  #confirming: Promise<void> | undefined;
  /** Resolves when what may wait is written too. */
  #soon: Promise<void> | undefined;
  #delayed = false;
  #committedAtMs = -Infinity;

  constructor(target: CommitTarget) {
    this.#target = target;
  }

  /**
   * Resolves to `answer` when the rows of all decisions so far are written; the platform then holds it back until they are
   * on disk. While one commit is on its way there, what is decided meanwhile gathers for the next.
   */
  async written<T>(answer: T): Promise<T> {
    if (this.#confirming) await (this.#gathering ??= this.#gather(this.#confirming));
    else this.#commit();
    return answer;
  }

  /** The same for a caller that keeps no client waiting: one commit carries whatever comes within `SOON_MS`. */
  writtenSoon(): Promise<void> {
    const waitMs = this.#committedAtMs + SOON_MS - Date.now();
    if (waitMs <= 0 && !this.#soon) return this.written(undefined);
    return (this.#soon ??= this.#after(Math.min(waitMs, SOON_MS)));
  }

  /** Sees to it that what was decided is written in a while. */
  later(): void {
    if (this.#delayed) return;
    this.#delayed = true;
    setTimeout(() => {
      this.#delayed = false;
      // An object that breaks here has nobody to tell.
      this.writtenSoon().catch(() => {});
    }, LATER_MS);
  }

  async #after(waitMs: number): Promise<void> {
    await pause(waitMs);
    this.#soon = undefined;
    await this.written(undefined);
  }

  async #gather(confirmed: Promise<void>): Promise<void> {
    await confirmed;
    this.#gathering = undefined;
    this.#commit();
  }

  #commit(): void {
    if (!this.#target.isDirty()) return;
    this.#target.write();
    this.#committedAtMs = Date.now();
    this.#confirming = this.#confirm();
    // Should the disk fail, the platform breaks the object and every answer that waits; nobody else need hear of it.
    this.#confirming.catch(() => {});
  }

  async #confirm(): Promise<void> {
    await this.#target.sync();
    if (this.#gathering) await pause(SPACING_MS);
    this.#confirming = undefined;
  }
}
