/** Everything below one tenant: its pages, and its part of the API. */
import { Hono } from "hono";
import type { DashboardHono } from "../app/context.ts";
import { tenantPath } from "../app/context.ts";

export const tenantPages = new Hono<DashboardHono>();
export const tenantApi = new Hono<DashboardHono>();

tenantPages.get("/", (c) => c.redirect(tenantPath(c, "repositories"), 303));
