/** Pages and API of one tenant. */
import { Hono } from "hono";
import type { DashboardHono } from "../app/context.ts";
import { auditApi, auditPages } from "./audit.tsx";
import { codePages } from "./code.tsx";
import { namePages } from "./names.tsx";
import { connectPages } from "./connect.tsx";
import { overviewPages } from "./overview.tsx";
import { keyApi, keyPages } from "./keys.tsx";
import { repositoryApi, repositoryPages } from "./repositories.tsx";
import { severalApi, severalPages } from "./repositories-at-once.tsx";
import { repositoryListApi, repositoryListPages } from "./repository-list.tsx";
import { githubApi, githubPages } from "./github.tsx";
import { pickerApi, pickerPages } from "./github-picker.tsx";
import { hookApi, hookPages } from "./hooks.tsx";
import { runApi, runPages } from "./runs.tsx";
import { searchApi, searchPages } from "./search.tsx";
import { settingsApi, settingsPages } from "./settings.tsx";
import { teamApi, teamPages } from "./team.tsx";
import { usageApi, usagePages } from "./usage.tsx";

export const tenantPages = new Hono<DashboardHono>();
export const tenantApi = new Hono<DashboardHono>();

for (const pages of [
  overviewPages,
  connectPages,
  searchPages,
  codePages,
  namePages,
  hookPages,
  githubPages,
  pickerPages,
  repositoryListPages,
  severalPages,
  runPages,
  repositoryPages,
  keyPages,
  teamPages,
  usagePages,
  auditPages,
  settingsPages,
]) {
  tenantPages.route("/", pages);
}
for (const api of [
  searchApi,
  repositoryListApi,
  severalApi,
  repositoryApi,
  runApi,
  hookApi,
  githubApi,
  pickerApi,
  keyApi,
  teamApi,
  usageApi,
  auditApi,
  settingsApi,
])
  tenantApi.route("/", api);
