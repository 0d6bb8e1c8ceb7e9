/** What a run is to do, as `runs.submission` and its coordinator store it. */
import type { IndexOptions } from "../../contract/index.ts";

export interface SealedSource {
  url: string;
  ref?: string;
  auth?: { username?: string; /** Encrypted token. */ sealed: string };
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
