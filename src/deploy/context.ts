import type { Cloudflare } from "./cloudflare.ts";
import type { Neon } from "./neon.ts";
import type { Settings } from "./settings.ts";
import type { StateFile } from "./state.ts";

/** What the steps of one deployment share. Values that a step finds or makes are there for the later ones. */
export interface DeployContext {
  settings: Settings;
  cloudflare: Cloudflare;
  accountId: string;
  neon: Neon | undefined;
  state: StateFile;
  /** Connection string; undefined in a dry run before the database exists. */
  databaseUrl: string | undefined;
  /** Public addresses, without a trailing slash. */
  apiUrl: string;
  siteUrl: string;
  say: (line: string) => void;
}

/** One piece of a deployment. Both functions may run any number of times. */
export interface Step {
  title: string;
  /** What is to be done, in a few words; undefined when nothing is. Changes nothing. */
  plan: (context: DeployContext) => Promise<string | undefined>;
  /** Does it. Throws `DeployError`, after which the next deployment starts again with this step. */
  apply: (context: DeployContext) => Promise<void>;
}
