/** What a run is to do, as `runs.submission` and its coordinator store it. */
import type { IndexOptions } from "../../contract/index.ts";

/** How a run reads its source: with a token that is encrypted for it, or with one that a GitHub App makes when it reads. */
export type SourceAuth = { username?: string; /** Encrypted token. */ sealed: string } | { appId: string };

export interface SealedSource {
  url: string;
  ref?: string;
  auth?: SourceAuth;
}

export interface RunSpec {
  runId: string;
  tenantId: string;
  workspaceId: string;
  kind: "index" | "snapshot";
  source: SealedSource;
  options: IndexOptions;
  /** Public id of the credential that requested the run. */
  actor: string;
}
