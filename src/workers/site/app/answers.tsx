/** Answers of mutations: JSON to scripts; a redirect with a notice to plain forms. */
import { getCookie, setCookie } from "hono/cookie";
import { readBounded } from "../../../lib/read-bounded.ts";
import type { DashboardContext, FormValues, Notice } from "./context.ts";
import { DashboardError } from "./errors.ts";
import { settingsOf } from "./settings.ts";

const NOTICE_COOKIE = "cc_notice";
const NOTICE_SECONDS = 60;
const MAX_BODY_BYTES = 64 * 1024;
const FORM_TYPE = "application/x-www-form-urlencoded";

/** Whether the client asked for JSON, as scripts do and forms do not. */
export function wantsJson(c: DashboardContext): boolean {
  const accept = c.req.header("Accept") ?? "";
  if (accept.includes("text/html")) return false;
  return (
    accept.includes("application/json") ||
    (c.req.header("Content-Type") ?? "").startsWith("application/json") ||
    c.req.path.startsWith("/app/api/")
  );
}

/** Answers a successful mutation: the page to go to, its notice, and data for scripts. */
export function done(
  c: DashboardContext,
  {
    to,
    notice,
    data = {},
    status = 200,
  }: { to: string; notice?: string; data?: Record<string, unknown>; status?: 200 | 201 | 202 },
): Response {
  if (notice !== undefined) setNotice(c, { kind: "done", text: notice });
  if (wantsJson(c)) return c.json({ ok: true, ...data, to }, status);
  return c.redirect(to, 303);
}

/** Stores a notice for the next page. */
export function setNotice(c: DashboardContext, notice: Notice): void {
  setCookie(c, NOTICE_COOKIE, `${notice.kind}:${notice.text.slice(0, 500)}`, {
    path: "/app",
    httpOnly: true,
    secure: settingsOf(c.env).hasSecureCookies,
    sameSite: "Lax",
    maxAge: NOTICE_SECONDS,
  });
}

/** Deletes a notice after it was shown. */
export function clearNotice(c: DashboardContext): void {
  const secure = settingsOf(c.env).hasSecureCookies;
  setCookie(c, NOTICE_COOKIE, "", { path: "/app", httpOnly: true, secure, sameSite: "Lax", maxAge: 0 });
}

/** Reads the notice of an earlier request, if any. */
export function readNotice(c: DashboardContext): Notice | undefined {
  const value = getCookie(c, NOTICE_COOKIE);
  if (value === undefined) return undefined;
  const [kind, ...text] = value.split(":");
  return kind === "done" || kind === "error" ? { kind, text: text.join(":") } : undefined;
}

/** Fields of a mutation, from a form or a JSON object. */
export interface Fields {
  /** A text field; "" if absent. Throws if it is not well-formed text. */
  text(name: string): string;
  /** Whether a checkbox is set, or a boolean true. */
  flag(name: string): boolean;
  /** Lines of a text area, or an array of strings, without empty ones. */
  lines(name: string): string[];
}

/** Reads a mutation's body. Throws `DashboardError` unless it is a form or JSON object of limited size. */
export async function readFields(c: DashboardContext): Promise<Fields> {
  const values = await readValues(c);
  const text = (name: string): string => {
    const value = values[name];
    if (value === undefined || value === null) return "";
    if (typeof value !== "string") throw invalid(name, "expected text");
    if (value.includes("\0") || !value.isWellFormed()) throw invalid(name, "contains characters that cannot be stored");
    return value;
  };
  return {
    text,
    flag: (name) => values[name] === true || ["on", "true", "1"].some((word) => word === values[name]),
    lines: (name) => {
      const value = values[name];
      const lines = Array.isArray(value) ? value : text(name).split(/\r?\n/);
      return lines
        .map((line) => {
          if (typeof line !== "string" || line.includes("\0") || !line.isWellFormed())
            throw invalid(name, "expected lines of text");
          return line.trim();
        })
        .filter((line) => line !== "");
    },
  };
}

/** Error for a rejected field. */
export function invalid(field: string, message: string): DashboardError {
  return new DashboardError("INVALID_BODY", `${field}: ${message}`, { field });
}

async function readValues(c: DashboardContext): Promise<Record<string, unknown>> {
  const bytes = await readBytes(c.req.raw);
  const type = (c.req.header("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (bytes.length === 0) return {};
  const body = new TextDecoder().decode(bytes);
  if (type === FORM_TYPE) {
    const values = formValues(body);
    c.set("sent", values);
    return values;
  }
  if (type !== "application/json") throw new DashboardError("INVALID_BODY", "send a form or a JSON object");
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new DashboardError("INVALID_BODY", "the body is not a JSON object");
}

/** Values of a form; those of a repeated field, such as checkboxes of one name, as a list. */
function formValues(body: string): FormValues {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(body)) {
    const earlier = values.get(name);
    if (Array.isArray(earlier)) earlier.push(value);
    else values.set(name, earlier === undefined ? value : [earlier, value]);
  }
  return Object.fromEntries(values);
}

/** The form of a request, whether a route has read it or not; undefined if it is none, or too large. */
export async function sentForm(c: DashboardContext): Promise<FormValues | undefined> {
  if (!c.req.raw.bodyUsed) await readValues(c).catch(() => undefined);
  return c.get("sent");
}

async function readBytes({ body }: Request): Promise<Uint8Array> {
  const bytes = await readBounded(body, MAX_BODY_BYTES);
  if (bytes === undefined) throw new DashboardError("INPUT_TOO_LARGE", "the form is too large");
  return bytes;
}
