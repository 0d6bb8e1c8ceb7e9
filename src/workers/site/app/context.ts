import type { Context } from "hono";
import type { Db } from "../../../service/db/client.ts";
import type { Quota } from "../../../service/dashboard/usage.ts";
import type { Logger } from "../../../lib/log.ts";
import type { MailboxBinding } from "../../../service/mail/local.ts";
import type { Membership, Session } from "../../../service/users/index.ts";

/** Bindings of the site Worker. The mailbox exists in the local stack only. */
export type DashboardEnv = SiteEnv & { MAILBOX?: MailboxBinding };

export interface DashboardHono {
  Bindings: DashboardEnv;
  Variables: {
    requestId: string;
    log: Logger;
    /** What is read before a tenant is known, and what belongs to no single one. */
    accounts: Db;
    /** Rows of the tenant of the path; set by `requireTenant`. */
    db: Db;
    /** Set for signed-in users. */
    session: Session | undefined;
    /** Membership in the tenant of the path; set by `requireTenant`. */
    membership: Membership;
    /** The team's quota, for the banner of pages; undefined if it cannot be read. Set by `requireTenant` for pages. */
    quota: Promise<Quota | undefined> | undefined;
    /** A message that the previous request left for this page. */
    notice: Notice | undefined;
    /** Values of the form that was sent; set by `readFields`. */
    sent: FormValues | undefined;
  };
}

export type DashboardContext = Context<DashboardHono>;

/** Values of a form by the names of its fields; a repeated name has a list. */
export type FormValues = Readonly<Record<string, string | string[]>>;

export interface Notice {
  kind: "done" | "error";
  text: string;
}

/** The session of a request that passed `requireSession`. */
export function sessionOf(c: DashboardContext): Session {
  const session = c.get("session");
  if (!session) throw new Error("the route is not behind requireSession");
  return session;
}

/** Path of a tenant's page, such as `/app/acme/team`. */
export function tenantPath(c: DashboardContext, page = ""): string {
  return `/app/${c.get("membership").slug}${page === "" ? "" : `/${page}`}`;
}
