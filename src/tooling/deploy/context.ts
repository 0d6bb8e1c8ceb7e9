import type { Cloudflare } from "./cloudflare.ts";
import type { Neon } from "./neon.ts";
import type { Settings } from "./settings.ts";
import type { StateFile } from "./state.ts";
import type { Variables } from "./variables.ts";

/** Context shared by the steps of a deployment. Steps store values here for later steps. */
export interface DeployContext {
  settings: Settings;
  cloudflare: Cloudflare;
  accountId: string;
  neon: Neon | undefined;
  state: StateFile;
  variables: Variables;
  /** Custom domains that were given, now or before. */
  domains: Settings["domains"];
  /** Connection string; undefined in a dry run before the database exists. */
  databaseUrl: string | undefined;
  /** Public addresses, without a trailing slash. */
  apiUrl: string;
  siteUrl: string;
  say: (line: string) => void;
}

/** A step of a deployment. Both functions are idempotent. */
export interface Step {
  title: string;
  /** Describes the work in a few words; undefined if there is none. Changes nothing. */
  plan: (context: DeployContext) => Promise<string | undefined>;
  /** Does the work. Throws `OperatorError`; the next deployment then resumes at this step. */
  apply: (context: DeployContext) => Promise<void>;
}
