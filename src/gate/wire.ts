/**
 * What crosses the RPCs of a metered request on the good path, as text: a string costs an RPC about half of what the object
 * does that it stands for. Everything rarer crosses as the object it is.
 */
import type { Surface } from "../contract/surfaces.ts";
import type { AdmitRequest, Admitted, CredentialKind, Settlement } from "./types.ts";

const SEPARATOR = " ";
const ABSENT = "-";
/** Where what is given back begins in a request for admission. */
const UNUSED_AT = 8;
const SETTLEMENTS_SEPARATOR = "\n";

/** Text of a request for admission; none of its fields holds a space. */
export function packAdmitRequest(
  tenantId: string,
  { credential: { kind, id, secretHash }, surface, estimateCredits, holdMs, ahead }: AdmitRequest,
): string {
  const asked = `${tenantId} ${kind} ${id} ${secretHash} ${surface} ${estimateCredits ?? ABSENT} ${holdMs ?? ABSENT}`;
  if (!ahead) return asked;
  const { want, unused } = ahead;
  if (!unused) return `${asked} ${want}`;
  return `${asked} ${want} ${unused.reservationId} ${unused.first} ${unused.last} ${unused.resetSec}`;
}

/** What `packAdmitRequest` made text of. */
export function unpackAdmitRequest(text: string): { tenantId: string; request: AdmitRequest } {
  const fields = text.split(SEPARATOR);
  const [tenantId = "", kind, id = "", secretHash = "", surface, estimateCredits, holdMs, want] = fields;
  const credential = { kind: kind as CredentialKind, id, secretHash };
  const request: AdmitRequest = { credential, surface: surface as Surface };
  if (estimateCredits !== ABSENT) request.estimateCredits = Number(estimateCredits);
  if (holdMs !== ABSENT) request.holdMs = Number(holdMs);
  if (want !== undefined) request.ahead = { want: Number(want) };
  const [reservationId, first, last, resetSec] = fields.slice(UNUSED_AT);
  if (request.ahead && reservationId !== undefined) {
    request.ahead.unused = { reservationId, first: Number(first), last: Number(last), resetSec: Number(resetSec) };
  }
  return { tenantId, request };
}

/** Text of an admission, without what its caller knows already. */
export function packAdmitted({ principal, rate, reservationId, covered, ahead }: Admitted): string {
  const admitted = `${principal.sharedIndex ? 1 : 0} ${covered ? 1 : 0} ${rate.limit} ${rate.remaining} ${rate.resetSec} ${reservationId ?? ABSENT}`;
  return ahead ? `${admitted} ${ahead.count} ${ahead.lifeMs}` : admitted;
}

/** The admission that `packAdmitted` made text of, for the one who asked for it. */
export function unpackAdmitted(
  text: string,
  { tenantId, credentialId, kind }: { tenantId: string; credentialId: string; kind: CredentialKind },
): Admitted {
  const fields = text.split(SEPARATOR);
  const [sharedIndex, covered, limit, remaining, resetSec, reservationId = ABSENT, count, lifeMs] = fields;
  const admitted: Admitted = {
    outcome: "admitted",
    principal: { tenantId, credentialId, kind, sharedIndex: sharedIndex === "1" },
    rate: { limit: Number(limit), remaining: Number(remaining), resetSec: Number(resetSec) },
    reservationId: reservationId === ABSENT ? null : reservationId,
    covered: covered === "1",
  };
  if (count !== undefined) admitted.ahead = { count: Number(count), lifeMs: Number(lifeMs) };
  return admitted;
}

/** The id of a reservation that was made ahead with another one; numbers begin at 1. */
export function leasedId(reservationId: string, number: number): string {
  return `${reservationId}.${number}`;
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
