/** The table of GitHub Apps, which teams make from the dashboard. */
import { bigint, index, pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { createdAt } from "./columns.ts";
import { tenants } from "./schema.ts";

/** GitHub Apps of a team. Which installation reads a repository is in `repository_sources`. */
export const githubApps = pgTable(
  "github_apps",
  {
    /** Public id, in the address of the App's webhook. */
    id: text("id").primaryKey(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    /** Origin of the GitHub that has the App: `https://github.com`, or that of a GitHub Enterprise Server. */
    origin: text("origin").notNull(),
    /** GitHub's id of the App. */
    appId: bigint("app_id", { mode: "number" }).notNull(),
    name: text("name").notNull(),
    /** Login of the account that owns the App, the only one that can install it. */
    owner: text("owner").notNull(),
    /** Its public page at GitHub. */
    pageUrl: text("page_url").notNull(),
    /** Private key and webhook secret, sealed for this row (see `src/service/github/secrets.ts`). */
    sealedSecret: text("sealed_secret").notNull(),
    /** When a delivery with a wrong signature last came; written once a minute at most. */
    rejectedAt: timestamp("rejected_at", { withTimezone: true }),
    createdAt: createdAt(),
  },
  (t) => [index("github_apps_tenant").on(t.tenantId, t.createdAt)],
);
