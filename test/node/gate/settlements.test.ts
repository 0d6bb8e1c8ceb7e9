import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Settlements } from "../../../src/gate/settlements.ts";
import { unpackSettlements } from "../../../src/gate/wire.ts";

const TENANT = "11111111-2222-4333-8444-555555555555";
const CHARGED = { outcome: "charged", kind: "embed", tokens: 5 } as const;

/** A gate whose calls the test answers one by one. */
function fakeGate() {
  const calls: { ids: string[]; answer: () => void; fail: () => void }[] = [];
  const settleMany = (packed: string) =>
    new Promise<void>((resolve, reject) => {
      const ids = unpackSettlements(packed).map(({ reservationId }) => reservationId);
      calls.push({ ids, answer: resolve, fail: () => reject(new Error("the object was reset")) });
    });
  return { calls, gates: { idFromName: (name: string) => name, get: () => ({ settleMany }) } };
}

describe("settlements after their answers", () => {
  const work: Promise<void>[] = [];
  const { calls, gates } = fakeGate();
  const stuck: number[] = [];
  let settlements: Settlements;
  const add = (id: string) => settlements.add(gates, TENANT, id, CHARGED, (promise) => work.push(promise));
  /** The ids of call number `n`, once it was made. */
  const call = (n: number) => vi.waitFor(() => expect(calls.length).toBeGreaterThan(n)).then(() => calls[n]?.ids);

  beforeEach(() => {
    vi.useFakeTimers();
    calls.length = work.length = stuck.length = 0;
    settlements = new Settlements((_, count) => stuck.push(count));
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("go at once, and what gathers meanwhile goes together", async () => {
    expect(["a", "b", "c"].map(add)).toEqual([true, true, true]);
    expect(await call(0)).toEqual(["a"]);
    expect(work).toHaveLength(1);
    calls[0]?.answer();
    expect(await call(1)).toEqual(["b", "c"]);
    calls[1]?.answer();
    await Promise.all(work);
    expect(settlements.pending(TENANT)).toBe("");
    add("d");
    expect(await call(2)).toEqual(["d"]);
    expect(work).toHaveLength(2);
  });

  it("are told to who asks until the gate has them", async () => {
    add("a");
    add("b");
    const pending = () => unpackSettlements(settlements.pending(TENANT)).map(({ reservationId }) => reservationId);
    expect(pending()).toEqual(["a", "b"]);
    calls[0]?.answer();
    await call(1);
    expect(pending()).toEqual(["b"]);
    expect(settlements.pending("another tenant")).toBe("");
  });

  it("are sent again when the gate dies under them", async () => {
    add("a");
    calls[0]?.fail();
    add("b");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await call(1)).toEqual(["a", "b"]);
    calls[1]?.answer();
    await Promise.all(work);
    expect(stuck).toEqual([]);
  });

  it("wait for the next request when the gate takes none of them", async () => {
    add("a");
    for (let n = 0; n < 4; n++) {
      await call(n);
      calls[n]?.fail();
      await vi.advanceTimersByTimeAsync(2_000);
    }
    await Promise.all(work);
    expect(stuck).toEqual([1]);
    add("b");
    expect(await call(4)).toEqual(["a", "b"]);
  });

  it("find another leader when theirs is ended, and its late answer spoils nothing", async () => {
    add("a");
    await call(0);
    vi.setSystemTime(Date.now() + 10_000);
    add("b");
    expect(await call(1)).toEqual(["a", "b"]);
    expect(work).toHaveLength(2);
    calls[0]?.answer();
    await work[0];
    calls[1]?.answer();
    await work[1];
    expect(settlements.pending(TENANT)).toBe("");
  });

  it("are left to the caller when far too many wait", () => {
    const taken = Array.from({ length: 5_001 }, (_, n) => add(String(n)));
    expect(taken.lastIndexOf(true)).toBe(4_999);
  });
});
