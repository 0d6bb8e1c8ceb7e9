export { openSnapshot, type SnapshotReader } from "./reader.ts";
export * from "./types.ts";
export { writeSnapshot, type WrittenSnapshot } from "./writer.ts";
