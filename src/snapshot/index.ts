/** Shared snapshots of an index: the artifact, where it is kept, and how it becomes the current one. */
export { buildSnapshot, type BuildRequest, type BuiltSnapshot, RevisionMissingError } from "./build.ts";
export { commitSnapshot } from "./commit.ts";
export type { Caller, SnapshotContext } from "./context.ts";
export { createPresigner, type Presigner, type PresignerConfig, type SignedUpload } from "./presign.ts";
export { listSnapshots, probeSnapshot, pullSnapshot } from "./read.ts";
export { openSnapshot, type SnapshotReader } from "./reader.ts";
export { parseQuery, parseSelector, type Selector, type SnapshotQuery } from "./selector.ts";
export { signSnapshot } from "./sign.ts";
export { sweepSnapshots, type SweepResult } from "./sweep.ts";
export * from "./types.ts";
export { writeSnapshot, type WrittenSnapshot } from "./writer.ts";
