/** A service under test, and how a check says what it expects of it. */
import { isDeepStrictEqual } from "node:util";

/** Options of a run. Checks whose requirements are not met are skipped and reported as such. */
export interface TargetOptions {
  /** Address of the api. */
  apiUrl: string;
  /** Address of the site, which also passes `/api/v1/*` on. */
  siteUrl?: string | undefined;
  apiKey?: string | undefined;
  workerToken?: string | undefined;
  tenantId?: string | undefined;
  /** A workspace of the tenant, which the run indexes `gitUrl` into. */
  workspaceId?: string | undefined;
  /** A small repository that the service can pull. */
  gitUrl?: string | undefined;
}

export type Need = Exclude<keyof TargetOptions, "apiUrl">;

export interface Check {
  /** What holds, as one would read it in the contract. */
  title: string;
  needs?: readonly Need[];
  /** Throws `Difference` if the service does something else. What it returns is printed beside the title. */
  run: (target: ServiceUnderTest) => Promise<string | void>;
}

/** The service does not do what the contract says. */
export class Difference extends Error {
  override readonly name = "Difference";
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; empty if it is none. */
  body: Record<string, unknown>;
}

interface RequestOptions {
  method?: string;
  /** Which credential is sent; none by default. */
  as?: "apiKey" | "workerToken";
  /** Sent as it is in place of a credential. */
  authorization?: string;
  /** Sent as JSON. */
  json?: unknown;
  headers?: Record<string, string>;
}

/** Longer than the service's own limit of an upstream call. */
const TIMEOUT_MS = 75_000;
/** `POST /index` answers when the run is done. */
const RUN_TIMEOUT_MS = 300_000;

export class ServiceUnderTest {
  readonly options: TargetOptions;

  constructor(options: TargetOptions) {
    this.options = options;
  }

  /** Value of an option that the check needs. */
  need(name: Need): string {
    const value = this.options[name];
    if (value === undefined) throw new Error(`the check does not list ${name} among its needs`);
    return value;
  }

  /** Sends a request; a path is below the api's address, an absolute URL goes where it says. */
  async call(path: string, options: RequestOptions = {}): Promise<Answer> {
    const response = await this.open(path, options);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parse(text) };
  }

  /** Like `call`, with the body left unread. */
  open(path: string, options: RequestOptions = {}): Promise<Response> {
    const { json, as } = options;
    const authorization = options.authorization ?? (as && `Bearer ${this.need(as)}`);
    return fetch(/^https?:/.test(path) ? path : this.options.apiUrl + path, {
      method: options.method ?? (json === undefined ? "GET" : "POST"),
      headers: {
        ...(authorization !== undefined && { Authorization: authorization }),
        ...(json !== undefined && { "Content-Type": "application/json" }),
        ...options.headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      redirect: "manual",
      signal: AbortSignal.timeout(path === "/index" ? RUN_TIMEOUT_MS : TIMEOUT_MS),
    });
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const MAX_SHOWN = 200;

function show(value: unknown): string {
  return (JSON.stringify(value) ?? "undefined").slice(0, MAX_SHOWN);
}

/** Throws `Difference` unless both are deeply equal. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) throw new Difference(`${what} is ${show(actual)}, not ${show(expected)}`);
}

/** Throws `Difference` unless the condition holds. */
export function holds(condition: boolean, difference: string): asserts condition {
  if (!condition) throw new Difference(difference);
}

/** The status, and the code of an error body in the service's envelope. */
export function refused(answer: Answer, status: number, code: string): void {
  const seen = { status: answer.status, ok: answer.body["ok"], code: answer.body["code"] };
  equal(seen, { status, ok: false, code }, "the answer");
  equal(typeof answer.body["error"], "string", "the type of error");
}

/** A 200 whose body has fields of the given types (`typeof`, or "array"). */
export function answered(answer: Answer, fields: Record<string, string>, status = 200): void {
  if (answer.status !== status)
    throw new Difference(`the status is ${answer.status}, not ${status}: ${answer.text.slice(0, MAX_SHOWN)}`);
  for (const [field, type] of Object.entries(fields)) {
    const value = answer.body[field];
    equal(Array.isArray(value) ? "array" : typeof value, type, `the type of ${field}`);
  }
}

/** Requests left in the window, by the answer's headers. */
export function remaining({ headers }: Answer): number {
  for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]) {
    holds(/^\d+$/.test(headers.get(name) ?? ""), `the header ${name} is ${show(headers.get(name))}, not a number`);
  }
  return Number(headers.get("X-RateLimit-Remaining"));
}
