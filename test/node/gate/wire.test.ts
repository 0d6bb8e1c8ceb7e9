import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AdmitResult, Settlement } from "../../../src/gate/types.ts";
import {
  joinSettlements,
  packAdmitRequest,
  packAdmitted,
  packSettlement,
  unpackAdmitRequest,
  unpackAdmitted,
  unpackSettlements,
} from "../../../src/gate/wire.ts";

const count = fc.nat(Number.MAX_SAFE_INTEGER);
const reservationId = fc
  .record({ deadlineMs: count, nonce: fc.uuid() })
  .map(({ deadlineMs, nonce }) => `2026-11.${deadlineMs}.${nonce}.7`);
const settlement = fc.oneof(
  fc.constant<Settlement>({ outcome: "failed" }),
  fc.record({ outcome: fc.constant("charged" as const), kind: fc.constantFrom("embed", "rerank"), tokens: count }),
);

describe("what crosses as text", () => {
  it("is the same request for admission on the other side", () => {
    const request = fc.record(
      {
        credential: fc.record({
          kind: fc.constantFrom("api_key", "worker_token"),
          id: fc.stringMatching(/^[0-9A-Za-z]{33}$/),
          secretHash: fc.stringMatching(/^[0-9a-f]{64}$/),
        }),
        surface: fc.constantFrom("metered", "index", "snapshot"),
        estimateCredits: count,
        holdMs: count,
      },
      { requiredKeys: ["credential", "surface"] },
    );
    fc.assert(
      fc.property(fc.uuid(), request, (tenantId, asked) => {
        expect(unpackAdmitRequest(packAdmitRequest(tenantId, asked))).toEqual({ tenantId, request: asked });
      }),
    );
  });

  it("is the same admission on the other side", () => {
    const known = { tenantId: "tenant", credentialId: "key", kind: "api_key" } as const;
    fc.assert(
      fc.property(
        fc.record({
          sharedIndex: fc.boolean(),
          rate: fc.record({ limit: count, remaining: count, resetSec: count }),
          reservationId: fc.option(reservationId),
          covered: fc.boolean(),
        }),
        ({ sharedIndex, ...rest }) => {
          const admitted = { outcome: "admitted", principal: { ...known, sharedIndex }, ...rest } as const;
          expect(unpackAdmitted(packAdmitted(admitted), known)).toEqual(admitted satisfies AdmitResult);
        },
      ),
    );
  });

  it("is the same settlements in the same order", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ reservationId, settlement })), (settlements) => {
        const packed = settlements.map((one) => packSettlement(one.reservationId, one.settlement));
        expect(unpackSettlements(joinSettlements(packed))).toEqual(settlements);
      }),
    );
  });
});
