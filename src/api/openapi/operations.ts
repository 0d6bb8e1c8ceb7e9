/** Every operation of the service: the one table that the OpenAPI document, the manual and a test on the routes stand on. */
import { compatOperations } from "./operations/compat.ts";
import { indexingOperations } from "./operations/indexing.ts";
import { meteredOperations } from "./operations/metered.ts";
import { serviceOperations } from "./operations/service.ts";
import { snapshotOperations } from "./operations/snapshots.ts";
import type { Operation } from "./types.ts";
import type { ErrorCode } from "../../contract/index.ts";

export const OPERATIONS: readonly Operation[] = [
  ...meteredOperations,
  ...indexingOperations,
  ...snapshotOperations,
  ...compatOperations,
  ...serviceOperations,
];

/** Every code that an operation may answer with, its own and those that follow from what it is. */
export function errorCodesOf(operation: Operation): ErrorCode[] {
  const { credential, surface, request, bodyErrors = ["INVALID_BODY"], errors = [] } = operation;
  const codes = new Set<ErrorCode>();
  if (request) for (const code of [...bodyErrors, "INPUT_TOO_LARGE" as const]) codes.add(code);
  if (credential !== null) codes.add(credential === "apiKey" ? "INVALID_API_KEY" : "UNAUTHORIZED");
  if (surface !== null) codes.add("RATE_LIMITED");
  for (const code of errors) codes.add(code);
  if (credential !== null) codes.add("UNAVAILABLE");
  codes.add("INTERNAL");
  return [...codes];
}
