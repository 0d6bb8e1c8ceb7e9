/** Audit events as sentences without their subject, which is who did it: "made the API key laptop". */
import type { AuditDetails, AuditEventName } from "../../../service/audit/events.ts";

/** Names of people by their ids; an id that is not among them has left the team. */
export type People = ReadonlyMap<string, string>;

const KINDS = { api_key: "API key", worker_token: "worker token" } as const;
const SWITCHES: Readonly<Record<string, string>> = {
  sharedIndex: "sharing of the index",
  mailQuota: "mail about the quota",
  mailRuns: "mail about runs",
};

/**
 * A template that throws where a value is undefined: an event of another release may lack a field, and a sentence with a gap says something
 * that did not happen.
 */
function phrase(texts: TemplateStringsArray, ...values: readonly (string | number | undefined)[]): string {
  if (values.includes(undefined)) throw new TypeError("a field is missing");
  return String.raw({ raw: texts }, ...values);
}

const day = (time: string): string => time.slice(0, 10);
const quoted = (text: string): string => phrase`“${text}”`;
const articleOf = (role: string): string => (/^[aeiou]/.test(role) ? phrase`an ${role}` : phrase`a ${role}`);

const SENTENCES: {
  [Name in AuditEventName]: (details: AuditDetails[Name], person: (userId: string) => string) => string;
} = {
  RATE_LIMITED: ({ surface, rejected }) =>
    surface.startsWith("credential:")
      ? phrase`sent ${rejected} requests more than a credential's own rate allows`
      : phrase`sent ${rejected} requests more than the rate limit of ${surface} allows`,
  INDEX_RUN_FAILED: ({ code }) => phrase`ran into ${code} while indexing`,
  SNAPSHOT_PUBLISHED: ({ gitSha }) => phrase`published a snapshot of ${gitSha.slice(0, 12)}`,
  SNAPSHOT_FAILED: ({ code }) => phrase`could not publish a snapshot: ${code}`,
  MEMBER_JOINED: ({ role }) => phrase`joined as ${articleOf(role)}`,
  MEMBER_ROLE_CHANGED: ({ userId, role }, person) => phrase`made ${person(userId)} ${articleOf(role)}`,
  MEMBER_REMOVED: ({ userId }, person) => phrase`removed ${person(userId)} from the team`,
  INVITATION_SENT: ({ email, role }) => phrase`invited ${email} as ${articleOf(role)}`,
  INVITATION_REVOKED: () => "revoked an invitation",
  WORKSPACE_CREATED: ({ repo }) => `connected ${repo ?? "a repository"}`,
  WORKSPACE_DELETED: ({ repo }) => `disconnected ${repo ?? "a repository"}`,
  SOURCE_CHANGED: ({ from, to, hasToken, tokenRemoved, app }) => {
    if (app !== undefined) return phrase`set ${to ?? "a source"} to be read by the GitHub App ${quoted(app)}`;
    const token =
      tokenRemoved === true ? "the read token was removed" : hasToken ? "with a read token" : "without a read token";
    const moved =
      to === undefined || from === to
        ? "changed a source"
        : phrase`changed a clone address from ${from ?? "none"} to ${to}`;
    return `${moved}; ${token}`;
  },
  GITHUB_APP_CREATED: ({ name, owner }) => phrase`made the GitHub App ${quoted(name)} of ${owner}`,
  GITHUB_APP_REMOVED: ({ name }) => phrase`removed the GitHub App ${quoted(name)}`,
  HOOK_CREATED: ({ provider }) => phrase`made a ${provider} hook`,
  HOOK_DELETED: ({ provider, isUndone }) =>
    isUndone === true
      ? phrase`undid a ${provider} hook, which the host had refused`
      : phrase`deleted a ${provider} hook`,
  KEY_CREATED: ({ kind, name, expiresAt, userId, clientId, madeFrom }, person) => {
    const what =
      clientId === undefined
        ? phrase`made the ${KINDS[kind]} ${quoted(name)}`
        : phrase`connected the agent ${quoted(name)}`;
    const whose = userId === undefined || clientId !== undefined ? "" : ` of ${person(userId)}`;
    const from = madeFrom === undefined ? "" : ", from another credential";
    return `${what}${whose}${from}${expiresAt === undefined ? "" : `, until ${day(expiresAt)}`}`;
  },
  KEY_BUDGET_CHANGED: ({ credentialId, monthlyCredits, ratePerMinute }) => {
    const credits = monthlyCredits === null ? "as many credits as the team" : phrase`${monthlyCredits} credits a month`;
    const rate = ratePerMinute === null ? "" : phrase` and ${ratePerMinute} requests a minute`;
    return phrase`gave the key …${credentialId.slice(-8)} ${credits}${rate}`;
  },
  KEY_REVOKED: ({ kind, credentialId }) => phrase`revoked the ${KINDS[kind]} …${credentialId.slice(-8)}`,
  TENANT_CREATED: ({ name }) => phrase`founded the team ${quoted(name)}`,
  TENANT_CHANGED: ({ name, monthlyCredits, runDays, auditDays, ...switches }) => {
    const changes = [
      ...(name === undefined ? [] : [`named the team ${quoted(name)}`]),
      ...(monthlyCredits === undefined ? [] : [`set the credits of a month to ${monthlyCredits}`]),
      ...(runDays === undefined ? [] : [`set finished runs to be kept for ${runDays} days`]),
      ...(auditDays === undefined ? [] : [`set the audit log to be kept for ${auditDays} days`]),
      ...Object.entries(switches).flatMap(([field, value]) => {
        const what = SWITCHES[field];
        return what === undefined || typeof value !== "boolean" ? [] : [`switched ${what} ${value ? "on" : "off"}`];
      }),
    ];
    return changes.length === 0 ? "changed the team" : changes.join(", ");
  },
};

/**
 * What happened, without who did it. Undefined for details of another form, as later or earlier releases may have recorded: the row then shows
 * the details alone.
 */
export function auditSentence(
  event: string,
  details: Readonly<Record<string, unknown>>,
  people: People,
): string | undefined {
  const sentence = Object.hasOwn(SENTENCES, event)
    ? (SENTENCES[event as AuditEventName] as (details: unknown, person: (userId: string) => string) => string)
    : undefined;
  try {
    return sentence?.(details, (userId) => people.get(userId) ?? "a former member");
  } catch {
    return undefined;
  }
}
