/** The dashboard as a browser without JavaScript sees it: cookies, the origin, and the mail that the local stack keeps. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { sql } from "drizzle-orm";
import { vi } from "vitest";
import type { Role } from "../../../src/service/db/people-schema.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { addUser } from "../../../src/service/users/index.ts";
import { findHtmlFaults } from "./html.ts";
import { database, newTenant, service, type TestTenant } from "./service.ts";

/** The stack's schedule sends a message within seconds. */
const MAIL_TIMEOUT_MS = 60_000;

export interface DashboardRequest {
  method?: string;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as a form, with the headers that a browser sends with one. */
  form?: Record<string, string>;
  headers?: Record<string, string>;
}

/** One browser profile. */
export class Profile {
  readonly cookies = new Map<string, string>();

  async send(target: string, request: DashboardRequest = {}): Promise<Response> {
    const { siteUrl } = service();
    const { json, form } = request;
    const hasBody = json !== undefined || form !== undefined;
    const method = request.method ?? (hasBody ? "POST" : "GET");
    const response = await fetch(`${siteUrl}${target}`, {
      method,
      redirect: "manual",
      headers: {
        Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(method === "GET" ? {} : { Origin: siteUrl }),
        ...(json === undefined ? {} : { "Content-Type": "application/json", Accept: "application/json" }),
        ...(form === undefined
          ? {}
          : { "Content-Type": "application/x-www-form-urlencoded", Accept: "text/html,application/xhtml+xml" }),
        ...request.headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = cookie.split(";");
      const [name = "", ...value] = pair.split("=");
      if (attributes.some((attribute) => /^\s*max-age=0$/i.test(attribute))) this.cookies.delete(name);
      else this.cookies.set(name, value.join("="));
    }
    return response;
  }

  /** A page's HTML. Throws if it is not valid. */
  async page(target: string): Promise<string> {
    const response = await this.send(target, { headers: { Accept: "text/html" } });
    if (response.status !== 200) throw new Error(`${target} answered ${response.status}`);
    const html = await response.text();
    const faults = await findHtmlFaults(html);
    if (faults.length > 0) throw new Error(`${target}: ${faults.join("\n")}`);
    return html;
  }

  /** A mutation of the API; the parsed answer with its status. */
  async post(target: string, json: unknown = {}): Promise<Record<string, unknown> & { status: number }> {
    const response = await this.send(target, { json });
    return { ...((await response.json()) as Record<string, unknown>), status: response.status };
  }

  /** Signs in with the code from the mail file. */
  async signIn(email: string): Promise<this> {
    const asked = await this.post("/app/api/sign-in", { email });
    if (asked.status !== 200) throw new Error(`no code: ${JSON.stringify(asked)}`);
    const answer = await this.post("/app/api/sign-in/verify", { code: await codeFor(email) });
    if (answer.status !== 200) throw new Error(`not signed in: ${JSON.stringify(answer)}`);
    return this;
  }
}

/** The messages that an address got, the latest last. */
export function mailOf(email: string): string[] {
  const folder = path.join(service().dataDir, "mail");
  const names = readdirSync(folder).filter((name) => name.endsWith(`-${email}.eml`));
  return names.toSorted().map((name) => readFileSync(path.join(folder, name), "utf8"));
}

/** The code of the last message to an address. Waits for it: the stack's schedule may have taken the message before its request could send it. */
export function codeFor(email: string): Promise<string> {
  return vi.waitFor(
    () => {
      const code = /\b\d{6}\b/.exec(mailOf(email).at(-1) ?? "")?.[0];
      if (code === undefined) throw new Error(`no code was sent to ${email}`);
      return code;
    },
    { timeout: MAIL_TIMEOUT_MS },
  );
}

export const newEmail = (): string => `${crypto.randomUUID()}@example.com`;

/** A signed-in member of a tenant. */
export async function memberOf(tenantId: string, role: Role): Promise<Profile & { email: string; userId: string }> {
  const email = newEmail();
  const { userId } = await addUser(database(), { email, tenantId, role });
  const profile = await new Profile().signIn(email);
  return Object.assign(profile, { email, userId });
}

/** A team with an owner who is signed in. */
export interface Team extends TestTenant {
  slug: string;
  owner: Profile & { email: string; userId: string };
  /** `/app/<slug>` and `/app/api/tenants/<slug>` */
  pages: string;
  base: string;
}

export async function newTeam(): Promise<Team> {
  const tenant = await newTenant({ name: `Team ${crypto.randomUUID().slice(0, 8)}` });
  const [row] = await rowsOf<{ slug: string }>(database(), sql`select slug from tenants where id = ${tenant.tenantId}`);
  const slug = row?.slug ?? "";
  const owner = await memberOf(tenant.tenantId, "owner");
  return { ...tenant, slug, owner, pages: `/app/${slug}`, base: `/app/api/tenants/${slug}` };
}
