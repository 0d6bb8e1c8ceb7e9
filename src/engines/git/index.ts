/** Streaming Git smart-HTTP client: protocol v2 with v0 fallback, over an injected `fetch`. */
export { GitError, type GitErrorCode } from "./errors.ts";
export type { GitDeps, GitRemote } from "./wire/http.ts";
export { type LfsPointer, parseLfsPointer } from "./lfs.ts";
export type { GitLimits } from "./limits.ts";
export { type ObjectFormat, oidBytes } from "./object.ts";
export { OidTable, readHex } from "./oid-table.ts";
export type { BlobHandlers, PullRequest } from "./pull.ts";
export type { ResolvedRef } from "./wire/refs.ts";
export { connect, type GitCapabilities, type GitSession, type PullResult, type PullStats } from "./session.ts";
export { MODE_GITLINK, MODE_SYMLINK } from "./trees/tree.ts";
export { TreeStore } from "./trees/tree-store.ts";
export { diffTrees, type TreeChange, type TreeEntry, type WalkLimits, walkTree } from "./trees/walk.ts";
export { checkRemoteUrl, checkRepositoryUrl, type GitHostPolicy, readGitHosts } from "./wire/url.ts";
