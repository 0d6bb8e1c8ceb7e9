/** Names of a deployment's resources. Production uses the names in the wrangler.toml files; other environments add their own. */

const PRODUCTION = "production";
const PREFIX = "code-context";

/** `code-context-api` stays as it is in production and is `code-context-staging-api` in staging. */
export function resourceName(name: string, environment: string): string {
  if (environment === PRODUCTION || !name.startsWith(`${PREFIX}-`)) return name;
  return `${PREFIX}-${environment}${name.slice(PREFIX.length)}`;
}

/** Name of the Neon project and of other resources that a deployment has one of. */
export function deploymentName(environment: string): string {
  return environment === PRODUCTION ? PREFIX : `${PREFIX}-${environment}`;
}
