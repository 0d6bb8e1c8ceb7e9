import { REQUEST_ID_HEADER } from "../contract/headers.ts";

const ACCEPTED = /^[\w-]{8,64}$/;

/** The request id that the client sent, if it is well-formed; else a new one. */
export function requestIdOf(headers: Pick<Headers, "get">): string {
  const sent = headers.get(REQUEST_ID_HEADER);
  return sent !== null && ACCEPTED.test(sent) ? sent : crypto.randomUUID();
}
