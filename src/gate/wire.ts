/**
 * What crosses the RPCs of a metered request on the good path, as text: a string costs an RPC about half of what the object
 * does that it stands for. Everything rarer crosses as the object it is.
 */
import type { AdmitResult, CredentialKind, Settlement } from "./types.ts";

type Admitted = Extract<AdmitResult, { outcome: "admitted" }>;

const SEPARATOR = " ";
const NO_RESERVATION = "-";
const SETTLEMENTS_SEPARATOR = "\n";

/** Text of an admission, without what its caller knows already. */
export function packAdmitted({ principal, rate, reservationId, covered }: Admitted): string {
  return `${principal.sharedIndex ? 1 : 0} ${covered ? 1 : 0} ${rate.limit} ${rate.remaining} ${rate.resetSec} ${reservationId ?? NO_RESERVATION}`;
}

/** The admission that `packAdmitted` made text of, for the one who asked for it. */
export function unpackAdmitted(
  text: string,
  { tenantId, credentialId, kind }: { tenantId: string; credentialId: string; kind: CredentialKind },
): Admitted {
  const [sharedIndex, covered, limit, remaining, resetSec, reservationId = NO_RESERVATION] = text.split(SEPARATOR);
  return {
    outcome: "admitted",
    principal: { tenantId, credentialId, kind, sharedIndex: sharedIndex === "1" },
    rate: { limit: Number(limit), remaining: Number(remaining), resetSec: Number(resetSec) },
    reservationId: reservationId === NO_RESERVATION ? null : reservationId,
    covered: covered === "1",
  };
}

/** Text of one settlement; reservation ids hold no spaces. */
export function packSettlement(reservationId: string, settlement: Settlement): string {
  if (settlement.outcome === "failed") return `${reservationId} failed`;
  return `${reservationId} ${settlement.kind} ${settlement.tokens}`;
}

export function joinSettlements(packed: Iterable<string>): string {
  return Array.from(packed).join(SETTLEMENTS_SEPARATOR);
}

/** The settlements in a text of `joinSettlements`. */
export function unpackSettlements(text: string): { reservationId: string; settlement: Settlement }[] {
  if (text === "") return [];
  return text.split(SETTLEMENTS_SEPARATOR).map((line) => {
    const [reservationId = "", kind, tokens] = line.split(SEPARATOR);
    if (kind !== "embed" && kind !== "rerank") return { reservationId, settlement: { outcome: "failed" } };
    return { reservationId, settlement: { outcome: "charged", kind, tokens: Number(tokens) } };
  });
}
