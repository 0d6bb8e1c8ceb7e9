import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { giveAhead, takeBack } from "../../../src/gate/ahead.ts";
import { type RateBudgets, readBudgets } from "../../../src/gate/budgets.ts";
import { CreditLedger, type LedgerStore } from "../../../src/gate/credits.ts";
import { Leases } from "../../../src/gate/leases.ts";
import { SurfaceWindows } from "../../../src/gate/surface-windows.ts";
import type { Admitted, AdmitResult, AheadRequest, MeteredAdmission } from "../../../src/gate/types.ts";
import { createCredential, parseCredential, type ParsedCredential } from "../../../src/tenancy/credentials.ts";

const TENANT = "11111111-2222-4333-8444-555555555555";
const NOON = Date.UTC(2026, 10, 20, 12);
const HOLD_MS = 90_000;
/** What the gate knows of a credential is never older. */
const MAX_AGE_MS = 900;

const nowhere: LedgerStore = { saveMonth() {}, saveReservation() {}, dropReservation() {}, dropMonth() {} };

function newKey(): ParsedCredential {
  const parsed = parseCredential(createCredential("api_key", TENANT).value, "api_key");
  if (!parsed) throw new Error("createCredential and parseCredential disagree");
  return parsed;
}

/** A gate without storage and database; every commit is immediate. */
class Gate {
  readonly ledger = new CreditLedger(nowhere);
  readonly windows: SurfaceWindows;
  /** Requests taken from windows, by the window's end in Unix seconds. */
  readonly used = new Map<number, number>();
  /** Until when admissions given ahead may be used, and what they hold, by the reservation they were given with. */
  readonly given = new Map<string, { untilMs: number; credits: number }>();
  readonly credits: number;
  /** When each credential was revoked. */
  readonly revoked = new Map<ParsedCredential, number>();
  asked = 0;

  constructor(budget: number, credits: number) {
    const budgets: RateBudgets = readBudgets(JSON.stringify({ metered: { limit: budget } }));
    this.windows = new SurfaceWindows(budgets, {
      saveWindow: ({ startMs, windowSec, used }) => this.used.set(startMs / 1_000 + windowSec, used),
      dropWindow() {},
    });
    this.credits = credits;
  }

  admit(
    key: ParsedCredential,
    metered: MeteredAdmission | undefined,
    ahead: AheadRequest,
    nowMs: number,
    ageMs: number,
  ): AdmitResult {
    const { windows, ledger } = this;
    this.asked++;
    if (ahead.unused) takeBack(this, ahead.unused);
    if (nowMs - ageMs >= (this.revoked.get(key) ?? Infinity)) return { outcome: "unauthorized" };
    const { allowed, rate, retryAfterSec } = windows.take("metered", key.id, nowMs);
    if (!allowed) return { outcome: "rate_limited", rate, retryAfterSec };
    const principal = { tenantId: TENANT, credentialId: key.id, kind: key.kind, sharedIndex: false };
    if (!metered) return { outcome: "admitted", principal, rate, reservationId: null, covered: false };
    const reserved = ledger.reserve(nowMs, this.credits, metered.estimateCredits, HOLD_MS, String(this.asked));
    ledger.written();
    if (!reserved.ok) {
      const quota = { limit: this.credits, used: reserved.committed, resetsAt: "", retryAfterSec };
      return { outcome: "quota_exceeded", principal, rate, ...quota };
    }
    const { reservation, covered } = reserved;
    const admitted: Admitted = { outcome: "admitted", principal, rate, reservationId: reservation.id, covered };
    if (!covered || ahead.want === 0) return admitted;
    const freshForMs = MAX_AGE_MS - ageMs;
    const given = giveAhead(this, { reservation, want: ahead.want, rate, limit: this.credits, nowMs, freshForMs });
    if (!given) return admitted;
    this.given.set(reservation.id, { untilMs: nowMs + freshForMs, credits: reservation.credits });
    return { ...admitted, ahead: given };
  }
}

/** Isolates in front of one gate; calls and answers arrive when `deliver` says so. */
class World {
  nowMs = NOON;
  readonly keys = [newKey(), newKey()];
  readonly gate: Gate;
  readonly isolates = Array.from({ length: 3 }, () => new Leases(() => this.nowMs));
  readonly calls: (() => void)[] = [];
  readonly answers: (() => void)[] = [];
  readonly admitted: Admitted[] = [];
  open: string[] = [];
  leased = 0;
  /** Of how many calls one has its answer lost; none when 0. */
  readonly #lossy: number;
  #delivered = 0;

  constructor(budget: number, credits: number, lossy = 0) {
    this.gate = new Gate(budget, credits);
    this.#lossy = lossy;
  }

  request(isolate: number, keyIndex: number, estimateCredits: number, ageMs: number): void {
    const { gate, calls, answers } = this;
    const key = this.keys[keyIndex] as ParsedCredential;
    const metered = estimateCredits === 0 ? undefined : { estimateCredits };
    const result = (this.isolates[isolate] as Leases).admit(
      key,
      metered,
      (ahead) =>
        new Promise((resolve) => {
          calls.push(() => {
            const answer = gate.admit(key, metered, ahead, this.nowMs, ageMs);
            answers.push(() => resolve(answer));
          });
        }),
    );
    if (result instanceof Promise) {
      void result.then((answer) => this.#note(key, answer));
      return;
    }
    // Nobody was asked: the key was good by what the gate last knew.
    if (result.outcome !== "admitted") throw new Error("nobody but the gate turns a request away");
    const [, givenWith = ""] = /^(.*)\.\d+$/.exec(result.reservationId ?? "") ?? [];
    const { untilMs = -Infinity, credits = 0 } = gate.given.get(givenWith) ?? {};
    expect(this.nowMs).toBeLessThan(untilMs);
    expect(credits).toBeGreaterThanOrEqual(estimateCredits);
    expect(this.nowMs).toBeLessThan((gate.revoked.get(key) ?? Infinity) + MAX_AGE_MS);
    this.leased++;
    this.#note(key, result);
  }

  deliver(queue: (() => void)[], pick: number): void {
    queue.splice(pick % Math.max(1, queue.length), 1)[0]?.();
  }

  /** Has a call reach the gate, whose answer is lost. */
  repeat(pick: number): void {
    this.calls[pick % Math.max(1, this.calls.length)]?.();
    this.answers.pop();
  }

  async settled(): Promise<void> {
    while (this.calls.length + this.answers.length > 0) {
      if (this.#lossy > 0 && ++this.#delivered % this.#lossy === 0) this.repeat(0);
      this.deliver(this.calls, 0);
      this.deliver(this.answers, 0);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Nothing was admitted that is not taken from its window. */
  check(): void {
    const perWindow = Map.groupBy(this.admitted, ({ rate }) => rate.resetSec);
    for (const [resetSec, inOne] of perWindow) {
      expect(inOne.length).toBeLessThanOrEqual(this.gate.used.get(resetSec) ?? 0);
    }
  }

  #note(key: ParsedCredential, result: AdmitResult): void {
    if (result.outcome !== "admitted") return;
    expect(result.principal.credentialId).toBe(key.id);
    this.admitted.push(result);
    if (result.reservationId !== null) this.open.push(result.reservationId);
  }
}

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      op: fc.constant("requests" as const),
      isolate: fc.nat(2),
      key: fc.nat(1),
      // Most requests are alike; 0 stands for one that is not metered.
      credits: fc.oneof({ weight: 8, arbitrary: fc.constant(1) }, fc.integer({ min: 0, max: 40 })),
      ageMs: fc.nat(MAX_AGE_MS),
      times: fc.integer({ min: 1, max: 300 }),
    }),
  },
  // A call whose answer is lost is made again.
  { weight: 8, arbitrary: fc.record({ op: fc.constant("call" as const), pick: fc.nat(), twice: fc.boolean() }) },
  { weight: 8, arbitrary: fc.record({ op: fc.constant("answer" as const), pick: fc.nat() }) },
  { weight: 6, arbitrary: fc.record({ op: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 900 }) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("settle" as const), failed: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("revoke" as const), key: fc.nat(1) }) },
);

describe("admissions taken ahead", () => {
  it("never exceed a limit, are never used twice and outlive no key, however calls and answers cross", async () => {
    let leased = 0;
    const limits = fc.record({
      budget: fc.integer({ min: 2_500, max: 9_000 }),
      credits: fc.integer({ min: 3_000, max: 20_000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        limits,
        fc.array(step, { minLength: 20, maxLength: 120 }),
        async ({ budget, credits }, steps) => {
          const world = new World(budget, credits, 3);
          const { gate } = world;
          for (const action of steps) {
            switch (action.op) {
              case "requests":
                for (let i = 0; i < action.times; i++) {
                  world.request(action.isolate, action.key, action.credits, action.ageMs);
                  // Most answers come at once, some cross with what follows.
                  if (i % 7 !== 6) await world.settled();
                }
                break;
              case "call":
                if (action.twice) world.repeat(action.pick);
                world.deliver(world.calls, action.pick);
                break;
              case "answer":
                world.deliver(world.answers, action.pick);
                break;
              case "wait":
                world.nowMs += action.ms;
                break;
              case "settle":
                for (const id of world.open.splice(0)) {
                  const charged = { outcome: "charged", kind: "embed", tokens: 1 } as const;
                  gate.ledger.settle(id, action.failed ? { outcome: "failed" } : charged, world.nowMs);
                }
                break;
              case "revoke": {
                const key = world.keys[action.key] as ParsedCredential;
                if (!gate.revoked.has(key)) gate.revoked.set(key, world.nowMs);
                break;
              }
            }
            world.check();
            const period = "2026-11";
            expect(gate.ledger.figures(period).credits + gate.ledger.reserved(period)).toBeLessThanOrEqual(credits);
          }
          await world.settled();
          const ids = world.admitted.flatMap(({ reservationId }) => reservationId ?? []);
          expect(new Set(ids).size).toBe(ids.length);
          for (const used of gate.used.values()) expect(used).toBeLessThanOrEqual(budget);
          leased += world.leased;
        },
      ),
      { numRuns: 60 },
    );
    // The runs went where it matters.
    expect(leased).toBeGreaterThan(100);
  });

  it("leave a window exact, with headers that count down by one, for requests one after the other", async () => {
    const budget = 3_000;
    const pattern = fc.array(
      fc.record({ key: fc.nat(1), credits: fc.constantFrom(0, 1, 1, 1, 2), times: fc.integer({ min: 1, max: 200 }) }),
      { minLength: 1, maxLength: 10 },
    );
    await fc.assert(
      fc.asyncProperty(pattern, async (parts) => {
        const world = new World(budget, 1_000_000);
        for (let sent = 0; sent < budget + 50;) {
          for (const { key, credits, times } of parts) {
            for (let i = 0; i < times; i++) {
              world.request(0, key, credits, 0);
              await world.settled();
              if (++sent % 40 === 0) world.nowMs++;
            }
          }
        }
        expect(world.admitted.map(({ rate }) => rate.remaining)).toEqual(
          Array.from({ length: budget }, (_, i) => budget - 1 - i),
        );
      }),
      { numRuns: 10 },
    );
  });

  it("are given to the busy only, in growing numbers, and never near a limit", async () => {
    const given = async (budget: number, everyMs: number) => {
      const world = new World(budget, 1_000_000);
      for (let i = 0; i < 400; i++) {
        world.request(0, 0, 1, 0);
        await world.settled();
        world.nowMs += everyMs;
      }
      return world.leased;
    };
    expect(await given(100_000, 0)).toBeGreaterThan(380);
    expect(await given(100_000, 200)).toBe(0);
    expect(await given(2_000, 0)).toBe(0);
  });

  it("go back once, even if they are given back twice, and only to the window they came from", () => {
    const gate = new Gate(100_000, 1_000_000);
    const admit = () => gate.admit(newKey(), { estimateCredits: 1 }, { want: 4 }, NOON, 0);
    admit();
    const result = admit();
    if (result.outcome !== "admitted" || result.reservationId === null) throw new Error("not admitted");
    expect(result.ahead?.count).toBe(4);
    const { resetSec } = result.rate;
    expect(gate.used.get(resetSec)).toBe(6);
    const unused = { reservationId: result.reservationId, first: 2, last: 4, resetSec };
    for (let i = 0; i < 2; i++) {
      takeBack(gate, unused);
      expect(gate.used.get(resetSec)).toBe(3);
      expect(gate.ledger.reserved("2026-11")).toBe(3);
    }
    takeBack(gate, { ...unused, first: 1, resetSec: resetSec - 60 });
    expect(gate.used.get(resetSec)).toBe(3);
  });

  it("are good for no longer than what is known of the key, the window and the month", () => {
    const given = (change: { nowMs?: number; freshForMs?: number }) => {
      const { ledger, windows } = new Gate(100_000, 1_000_000);
      const nowMs = change.nowMs ?? NOON;
      const reserve = (nonce: string) => {
        const reserved = ledger.reserve(nowMs, 1_000_000, 1, HOLD_MS, nonce);
        ledger.written();
        if (!reserved.ok) throw new Error("no room");
        return reserved.reservation;
      };
      reserve("first");
      const { rate } = windows.take("metered", "key", nowMs);
      const grant = { reservation: reserve("second"), want: 4, rate, limit: 1_000_000, nowMs, freshForMs: 900 };
      return giveAhead({ ledger, windows }, { ...grant, ...change })?.lifeMs;
    };
    expect(given({})).toBe(500);
    expect(given({ freshForMs: 120.5 })).toBe(120);
    expect(given({ freshForMs: 10 })).toBeUndefined();
    expect(given({ nowMs: NOON + 59_800 })).toBe(200);
    expect(given({ nowMs: Date.UTC(2026, 11, 1) - 100 })).toBe(100);
  });
});
