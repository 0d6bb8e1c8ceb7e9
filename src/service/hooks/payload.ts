/** Parses deliveries of all providers into one form. */
import { createHash } from "node:crypto";
import type { HookProvider } from "../db/people-schema.ts";
import { isRecord, isText } from "../../lib/shape.ts";

interface HeaderReader {
  get(name: string): string | null;
}

export interface Delivery {
  /** The provider's name of the event, such as `push`. */
  event: string;
  /**
   * The same when the delivery is sent again. The digest of the body where the body is signed, because headers are not signed; else the
   * provider's id.
   */
  deliveryId: string | null;
  /** Set if a branch was pushed. */
  push: { branch: string; gitSha: string; isDeleted: boolean } | null;
  /** The repository's default branch, if the payload has it. */
  defaultBranch: string | null;
  /** As the host sent it. */
  payload: Record<string, unknown>;
}

/** `delivery`: headers with the delivery's id, for a provider that does not sign the body. */
const HEADERS: Record<HookProvider, { event: string; delivery?: readonly string[] }> = {
  // Payloads contain the time of the push or of the repository's last change, so two pushes never have the same body.
  github: { event: "X-GitHub-Event" },
  gitea: { event: "X-Gitea-Event" },
  // The key stays the same when GitLab retries a delivery; older versions send only the event's id.
  gitlab: { event: "X-Gitlab-Event", delivery: ["Idempotency-Key", "X-Gitlab-Event-UUID"] },
};
const PUSH_EVENTS: Record<HookProvider, string> = { github: "push", gitea: "push", gitlab: "Push Hook" };

const MAX_HEADER_CHARACTERS = 100;
const MAX_BRANCH_CHARACTERS = 500;
// oxlint-disable-next-line no-control-regex -- control characters are what is refused
const CONTROL_OR_SPACE = /[\u0000-\u0020\u007f]/;
const BRANCH_PREFIX = "refs/heads/";
/** Object id of a deleted ref, in SHA-1 and in SHA-256 repositories. */
const NO_OBJECT = /^0+$/;
const OBJECT_ID = /^(?:[\da-f]{40}|[\da-f]{64})$/;

/** Parses a delivery. Throws `SyntaxError` if the body does not have the provider's format. */
export function readDelivery(provider: HookProvider, headers: HeaderReader, body: Uint8Array): Delivery {
  const names = HEADERS[provider];
  const header = (name: string) => headers.get(name)?.slice(0, MAX_HEADER_CHARACTERS) ?? null;
  const event = header(names.event) ?? "unknown";
  const deliveryId =
    names.delivery === undefined
      ? `sha256:${createHash("sha256").update(body).digest("hex")}`
      : (names.delivery.map(header).find((id) => id !== null) ?? null);
  const payload = parseBody(headers.get("Content-Type") ?? "", body);
  const project = payload[provider === "gitlab" ? "project" : "repository"];
  const defaultBranch = isRecord(project) && isBranch(project["default_branch"]) ? project["default_branch"] : null;
  const push = event === PUSH_EVENTS[provider] ? readPush(payload) : null;
  return { event, deliveryId, push, defaultBranch, payload };
}

function readPush({ ref, after }: Record<string, unknown>): Delivery["push"] {
  if (!isText(ref) || !isText(after) || !OBJECT_ID.test(after)) throw new SyntaxError("a push needs ref and after");
  if (!ref.startsWith(BRANCH_PREFIX)) return null;
  const branch = ref.slice(BRANCH_PREFIX.length);
  if (!isBranch(branch)) throw new SyntaxError("ref is not a branch's name");
  return { branch, gitSha: after, isDeleted: NO_OBJECT.test(after) };
}

function isBranch(value: unknown): value is string {
  return (
    isText(value) &&
    value.length > 0 &&
    value.length <= MAX_BRANCH_CHARACTERS &&
    !CONTROL_OR_SPACE.test(value) &&
    value.isWellFormed()
  );
}

/** Parses JSON, or a form with JSON in its `payload` field, which GitHub and Gitea can be set to send. */
function parseBody(contentType: string, body: Uint8Array): Record<string, unknown> {
  const text = new TextDecoder().decode(body);
  const isForm = contentType.toLowerCase().startsWith("application/x-www-form-urlencoded");
  const json = isForm ? (new URLSearchParams(text).get("payload") ?? "") : text;
  const value: unknown = JSON.parse(json);
  if (!isRecord(value)) throw new SyntaxError("the payload is not an object");
  return value;
}
