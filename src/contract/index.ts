/** The HTTP contract: schemas, codes, header names and limits. Imports none of our other code, so clients can bundle it. */
export * from "./compat.ts";
export * from "./credentials.ts";
export * from "./errors.ts";
export * from "./headers.ts";
export * from "./health.ts";
export * from "./indexing.ts";
export * from "./limits.ts";
export * from "./metering.ts";
export * from "./overlays.ts";
export * from "./exact.ts";
export * from "./not-searched.ts";
export * from "./relations.ts";
export * from "./search.ts";
export * from "./snapshots.ts";
export * from "./surfaces.ts";
