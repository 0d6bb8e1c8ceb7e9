/**
 * A check that R2 performs and Miniflare's S3 endpoint does not: the signature must cover every `x-amz-*` header of a request.
 * Otherwise an upload URL could be used with a header such as `x-amz-copy-source`, which copies another object.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

const SIGNED_IN_HEADER = /\bSignedHeaders=([^,\s]+)/;

/** True when the request has an `x-amz-*` header that its signature does not cover. */
export function hasUnsignedAmzHeader(request: Pick<IncomingMessage, "url" | "headers">): boolean {
  const { searchParams } = new URL(request.url ?? "/", "http://localhost");
  const inQuery = searchParams.get("X-Amz-SignedHeaders");
  const inHeader = SIGNED_IN_HEADER.exec(request.headers.authorization ?? "")?.[1];
  const signed = new Set((inQuery ?? inHeader ?? "").toLowerCase().split(";"));
  return Object.keys(request.headers).some((name) => name.startsWith("x-amz-") && !signed.has(name));
}

/** Responds like S3: 403 with an XML document. */
export function refuseUnsigned(response: ServerResponse): void {
  const body =
    '<?xml version="1.0" encoding="UTF-8"?>' +
    "<Error><Code>AccessDenied</Code><Message>There were headers present in the request which were not signed</Message></Error>";
  // The body of the request is not read, so the connection cannot be used again.
  response.writeHead(403, { "Content-Type": "application/xml", Connection: "close" }).end(body);
}
