/**
 * Variables of the Workers between deployments. A value that is given wins; without one the value in use stays, so that a deployment
 * from another shell or machine resets nothing. The Workers know what is in use; the state has a copy for when they are gone.
 */
import { OperatorError } from "../errors.ts";
import type { Cloudflare } from "./cloudflare.ts";
import type { Settings } from "./settings.ts";
import type { DeployState } from "./state.ts";
import { declaredVars, DEPLOY_ORDER, requiredSecrets, workerConfig } from "./workers.ts";

/** Variables that each deployment sets anew. */
const SET_ANEW = new Set(["SERVICE_VERSION", "SNAPSHOTS_S3_URL"]);
const MAX_SHOWN = 80;

export interface Variables {
  /** Values that were given or are in use; all other variables have their defaults. */
  values: Record<string, string>;
  /** Values of the deployed Workers; empty before the first deployment. */
  deployed: Record<string, string>;
}

/** Reads what is in use and applies the given settings. Throws `OperatorError` if the result would not work. */
export async function resolveVariables(
  cloudflare: Cloudflare,
  settings: Settings,
  state: DeployState,
): Promise<Variables> {
  const deployed: Record<string, string> = {};
  // An interrupted deployment has replaced the first Workers of the order, so theirs are the newest values.
  for (const worker of DEPLOY_ORDER.toReversed()) {
    Object.assign(deployed, await cloudflare.vars(workerConfig(worker, settings.environment).name));
  }
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...state.vars, ...deployed })) {
    if (!SET_ANEW.has(name) && !isUnset(settings, name)) values[name] = value;
  }
  Object.assign(values, settings.vars);
  if (settings.command === "deploy") {
    checkMail(settings, values, deployed);
    checkGithub(settings, values, deployed);
  }
  return { values, deployed };
}

/** An address that came from a custom domain goes with the domain. */
function isUnset({ unset }: Settings, name: string): boolean {
  return unset.has(name) || (name.endsWith("_URL") && unset.has(name.replace(/_URL$/, "_DOMAIN")));
}

/** Throws `OperatorError` if a setting of the mail provider is missing; otherwise it would be noticed only when someone signs in. */
function checkMail({ secrets }: Settings, values: Record<string, string>, deployed: Record<string, string>): void {
  const { MAIL_PROVIDER: provider = "none", MAIL_FROM: from } = values;
  if (provider === "none") return;
  if (provider !== "cloudflare" && provider !== "resend") {
    throw new OperatorError(`MAIL_PROVIDER ${provider}: expected cloudflare, resend or none`);
  }
  if (!from || from === declaredVars().get("MAIL_FROM")) {
    throw new OperatorError("MAIL_FROM is not set: mail needs a sender, such as Code Context <noreply@example.com>");
  }
  // A Worker that sends with resend already has its key; its value cannot be read.
  if (provider === "resend" && !secrets["MAIL_API_KEY"] && deployed["MAIL_PROVIDER"] !== "resend") {
    throw new OperatorError("MAIL_API_KEY is not set: resend needs it");
  }
}

/** Throws `OperatorError` if the client of sign-in with GitHub has no secret: its button would be missing. */
function checkGithub({ secrets }: Settings, values: Record<string, string>, deployed: Record<string, string>): void {
  const id = values["GITHUB_CLIENT_ID"];
  if (id && !secrets["GITHUB_CLIENT_SECRET"] && deployed["GITHUB_CLIENT_ID"] !== id)
    throw new OperatorError("GITHUB_CLIENT_SECRET is not set: GITHUB_CLIENT_ID needs it");
}

/** Names of given secrets that a deployment keeps in the Workers alone. Those that come from its state are not among them. */
const IN_WORKERS_ONLY = new Set([
  "EMBED_API_KEY",
  "RERANK_API_KEY",
  "METRICS_TOKEN",
  "MAIL_API_KEY",
  "GITHUB_CLIENT_SECRET",
]);

/**
 * Names of the secrets that were given, now or before. Throws `OperatorError` if a Worker that needs one has it no longer, as after
 * `destroy`: an unset key would be noticed only when the provider refuses it.
 */
export async function keptSecrets(cloudflare: Cloudflare, settings: Settings, state: DeployState): Promise<string[]> {
  const kept = (state.secrets ?? []).filter((name) => !settings.unset.has(name));
  for (const worker of DEPLOY_ORDER) {
    const needed = requiredSecrets(worker).filter((name) => kept.includes(name) && !settings.secrets[name]);
    if (needed.length === 0) continue;
    const present = await cloudflare.secretNames(workerConfig(worker, settings.environment).name);
    const lost = needed.filter((name) => present?.includes(name) !== true);
    if (lost.length > 0) {
      throw new OperatorError(
        `${lost.join(", ")}: given before, but the Workers have it no longer; set it again, or use --unset ${lost[0]}`,
      );
    }
  }
  return [...new Set([...kept, ...Object.keys(settings.secrets).filter((name) => IN_WORKERS_ONLY.has(name))])];
}

/** One line for each variable that the deployment changes, given the values that it uploads. */
export function changedVariables({ deployed }: Variables, uploaded: Readonly<Record<string, string>>): string[] {
  return Object.entries(deployed).flatMap(([name, before]) => {
    const after = uploaded[name];
    if (after === before) return [];
    return [`${name}: ${shown(before)} → ${after === undefined ? "no longer used" : shown(after)}`];
  });
}

function shown(value: string): string {
  return value.length > MAX_SHOWN ? `"${value.slice(0, MAX_SHOWN)}…"` : `"${value}"`;
}
