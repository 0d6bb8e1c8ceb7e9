/** All rate windows of one subject, mirrored to a store: the current one of each surface, and past ones still to be reported. */
import type { Surface } from "../contract/surfaces.ts";
import type { RateBudgets } from "./budgets.ts";
import type { SurfaceWindow } from "./store.ts";
import type { TakeResult } from "./types.ts";
import { currentWindow, takeFrom, windowEndMs } from "./windows.ts";

/** Windows are kept this long after their end, so that a clock that goes back a little finds them as they were. */
const OVER_KEPT_MS = 60_000;

export interface WindowStore {
  saveWindow(row: Readonly<SurfaceWindow>): void;
  dropWindow(row: Pick<SurfaceWindow, "surface" | "startMs">): void;
}

export class SurfaceWindows {
  readonly #budgets: RateBudgets;
  readonly #store: WindowStore;
  readonly #current = new Map<Surface, SurfaceWindow>();
  readonly #past = new Set<SurfaceWindow>();

  /** `rows` in the order of their start. */
  constructor(budgets: RateBudgets, store: WindowStore, rows: Iterable<SurfaceWindow> = []) {
    this.#budgets = budgets;
    this.#store = store;
    for (const row of rows) this.#open({ ...row });
  }

  /** Takes one request from the surface's bucket; `actor` is noted when it is the first that is turned away. */
  take(surface: Surface, actor: string, nowMs: number): TakeResult {
    const budget = this.#budgets[surface];
    const last = this.#current.get(surface);
    const window = currentWindow(last, budget, nowMs);
    let row = last;
    if (!row || window !== last) row = this.#open({ ...window, surface, rejected: 0, reported: 0, actor });
    const result = takeFrom(row, budget, nowMs);
    if (!result.allowed) {
      if (row.rejected === 0) row.actor = actor;
      row.rejected++;
    }
    this.#store.saveWindow(row);
    return result;
  }

  /** Takes more requests from the window that `take` last took from; the caller has seen that there is room for them. */
  takeAhead(surface: Surface, count: number): void {
    this.#add(surface, count);
  }

  /** Gives requests that were never made back to the window that ends at `resetSec` (Unix time), if it is the current one. */
  giveBack(surface: Surface, count: number, resetSec: number): void {
    const row = this.#current.get(surface);
    if (row && windowEndMs(row) === resetSec * 1_000) this.#add(surface, -count);
  }

  #add(surface: Surface, count: number): void {
    const row = this.#current.get(surface);
    if (!row || count === 0) return;
    row.used = Math.max(0, row.used + count);
    this.#store.saveWindow(row);
  }

  /** Windows with rejections that the audit log does not have yet, as they are now: later changes do not show. */
  unreported(): SurfaceWindow[] {
    return structuredClone([...this.#past, ...this.#current.values()].filter((row) => row.rejected > row.reported));
  }

  /** Notes that the audit log has a window's rejections as they were in `seen`. */
  reported(seen: Readonly<SurfaceWindow>): void {
    for (const row of [...this.#past, ...this.#current.values()]) {
      if (row.surface !== seen.surface || row.startMs !== seen.startMs || row.reported >= seen.rejected) continue;
      row.reported = seen.rejected;
      this.#store.saveWindow(row);
    }
  }

  /** Drops windows that have been over for a while and are reported. */
  prune(nowMs: number): void {
    const over = (row: SurfaceWindow) => windowEndMs(row) + OVER_KEPT_MS <= nowMs && row.rejected <= row.reported;
    for (const row of this.#past) {
      if (!over(row)) continue;
      this.#past.delete(row);
      this.#store.dropWindow(row);
    }
    for (const [surface, row] of this.#current) {
      if (!over(row)) continue;
      this.#current.delete(surface);
      this.#store.dropWindow(row);
    }
  }

  /** When the next window can be dropped; undefined when there is none. */
  nextDueMs(): number | undefined {
    const ends = [...this.#past, ...this.#current.values()].map(windowEndMs);
    return ends.length === 0 ? undefined : Math.min(...ends) + OVER_KEPT_MS;
  }

  #open(row: SurfaceWindow): SurfaceWindow {
    const last = this.#current.get(row.surface);
    if (last) this.#past.add(last);
    this.#current.set(row.surface, row);
    return row;
  }
}
