import { DurableObject } from "cloudflare:workers";
import type { Surface } from "../contract/surfaces.ts";
import { readBudgets } from "./budgets.ts";
import type { SourceGateApi, TakeResult } from "./types.ts";
import { currentWindow, type RateWindow, takeFrom, windowEndMs } from "./windows.ts";

export interface SourceGateEnv {
  RATE_LIMITS?: string;
}

/** Rows outlive their window by this much, so that a clock that goes back a little finds them as they were. */
const OVER_KEPT_MS = 5_000;

/**
 * The buckets of one source that shows no credential (`idFromName` of a salted hash of its address). Counts live in memory
 * and are written behind: an idle object is evicted within a window, so memory alone would forget what was taken, but a
 * response need not wait for the disk, because all that a crash can lose is the count of a free request. An alarm
 * removes the object's rows once its windows are over.
 */
export class SourceGate extends DurableObject<SourceGateEnv> implements SourceGateApi {
  readonly #budgets;
  #windows = new Map<Surface, RateWindow>();
  #alarmAtMs: number | undefined;

  constructor(ctx: DurableObjectState, env: SourceGateEnv) {
    super(ctx, env);
    this.#budgets = readBudgets(env.RATE_LIMITS);
    void ctx.blockConcurrencyWhile(async () => {
      this.#windows = new Map((await ctx.storage.list<RateWindow>()) as Map<Surface, RateWindow>);
      this.#alarmAtMs = (await ctx.storage.getAlarm()) ?? undefined;
    });
  }

  async take(surface: Surface): Promise<TakeResult> {
    const nowMs = Date.now();
    const budget = this.#budgets[surface];
    const last = this.#windows.get(surface);
    const window = currentWindow(last, budget, nowMs);
    const result = takeFrom(window, budget, nowMs);
    if (window !== last) this.#windows.set(surface, window);
    if (result.allowed) void this.ctx.storage.put(surface, { ...window }, { allowUnconfirmed: true });
    this.#schedule(windowEndMs(window) + OVER_KEPT_MS);
    return result;
  }

  override async alarm(): Promise<void> {
    this.#alarmAtMs = undefined;
    const nowMs = Date.now();
    for (const [surface, window] of this.#windows) {
      if (windowEndMs(window) + OVER_KEPT_MS > nowMs) continue;
      this.#windows.delete(surface);
      await this.ctx.storage.delete(surface);
    }
    const ends = [...this.#windows.values()].map(windowEndMs);
    if (ends.length > 0) this.#schedule(Math.min(...ends) + OVER_KEPT_MS);
    else await this.ctx.storage.deleteAll();
  }

  #schedule(atMs: number): void {
    if (this.#alarmAtMs !== undefined && this.#alarmAtMs <= atMs) return;
    this.#alarmAtMs = atMs;
    void this.ctx.storage.setAlarm(atMs, { allowUnconfirmed: true });
  }
}
