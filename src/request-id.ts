import { REQUEST_ID_HEADER } from "./contract/headers.ts";

const ACCEPTED = /^[\w-]{8,64}$/;

/** The id of a request: the one its client sent, if that is well-formed, else a new one. */
export function requestIdOf(headers: Pick<Headers, "get">): string {
  const sent = headers.get(REQUEST_ID_HEADER);
  return sent !== null && ACCEPTED.test(sent) ? sent : crypto.randomUUID();
}
