/** Several repositories at once: connected from a list of addresses, and indexed. What fails is named, and does not keep the others. */
import { Hono } from "hono";
import { namesOf, PAGE_ROWS } from "../../../service/dashboard/repositories.ts";
import { cloneAddress } from "../../../service/sources/clone-address.ts";
import { connectRepository } from "../../../service/sources/sources.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { done, invalid, readFields } from "../app/answers.tsx";
import { type DashboardHono, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { actorOfSession } from "../app/fields.ts";
import { forEach } from "../app/for-each.ts";
import { requireManager } from "../app/guards.ts";
import { tenantPage } from "../views/layout.tsx";
import { Field, Form, Head } from "../views/parts.tsx";
import { nameOf } from "../views/repositories.tsx";
import { depsOf } from "./repositories.tsx";
import { startIndexing } from "./runs.tsx";

export const severalPages = new Hono<DashboardHono>();
export const severalApi = new Hono<DashboardHono>();

/** Addresses of one form. */
const MAX_ADDRESSES = 50;

severalPages.get("/repositories/several", (c) => {
  requireManager(c);
  return tenantPage(
    c,
    "repositories",
    { title: "Connect several repositories" },
    <>
      <Head
        title="Connect several repositories"
        crumb={<a href={tenantPath(c, "repositories")}>Repositories</a>}
        text="Each is connected and indexed by itself. Those that cannot be are named afterwards."
      />
      <section class="panel">
        <div class="body">
          <Form action={`/app/api/tenants/${c.get("membership").slug}/repositories/several`}>
            <Field
              label="Addresses"
              name="urls"
              hint={`One per line, at most ${MAX_ADDRESSES}: https://github.com/owner/name, git@host:owner/name, or the address of its page in a browser.`}
            >
              <textarea id="field-urls" name="urls" aria-describedby="field-urls-hint" rows={10} required></textarea>
            </Field>
            <Field
              label="Read token (private repositories only)"
              name="token"
              type="password"
              autocomplete="new-password"
              maxlength={4096}
              hint="Used for all of them, which must then be at one host. Stored encrypted, and never shown again."
            />
            <button type="submit" class="primary">
              Connect and index
            </button>
          </Form>
        </div>
      </section>
    </>,
  );
});

severalApi.post("/repositories/several", async (c) => {
  const fields = await readFields(c);
  const urls = [...new Set(fields.lines("urls").map(cloneAddress))];
  if (urls.length === 0) throw invalid("urls", "enter at least one address");
  if (urls.length > MAX_ADDRESSES)
    throw invalid("urls", `${urls.length} addresses are too many: at most ${MAX_ADDRESSES} at once`);
  const token = fields.text("token").trim() || undefined;
  const origins = new Set(urls.map((url) => (URL.canParse(url) ? new URL(url).origin : url)));
  if (token !== undefined && origins.size > 1)
    throw invalid(
      "token",
      "the addresses are at several hosts, and a read token is for one; connect each host by itself",
    );
  const { tenantId } = c.get("membership");
  const source = { tenantId, actor: actorOfSession(c), branches: [], ...(token === undefined ? {} : { token }) };
  const outcome = await forEach(urls, shorten, async (cloneUrl) => {
    const made = await connectRepository(depsOf(c), { ...source, cloneUrl });
    const { runId } = await startIndexing(c, made.workspaceId);
    return { ...made, runId };
  });
  if (outcome.made.length === 0) throw new DashboardError("INVALID_BODY", outcome.reasons, { field: "urls" });
  return done(c, {
    to: tenantPath(c, "repositories?order=newest"),
    data: { repositories: outcome.made, failed: outcome.failed },
    status: 201,
    notice: `${outcome.made.length} of ${urls.length} connected.${outcome.reasons && ` Not connected: ${outcome.reasons}.`}`,
  });
});

severalApi.post("/repositories/index", async (c) => {
  const fields = await readFields(c);
  const ids = fields.flag("all") ? fields.text("shown").split(" ") : fields.lines("ids");
  if (ids.length === 0) throw invalid("ids", "select at least one repository");
  if (ids.length > PAGE_ROWS || !ids.every(isUuid)) throw invalid("ids", `expected at most ${PAGE_ROWS} ids`);
  const named = await namesOf(c.get("db"), c.get("membership").tenantId, ids);
  const outcome = await forEach(
    named,
    (one) => nameOf(one),
    async ({ workspaceId }) => ({ workspaceId, runId: (await startIndexing(c, workspaceId)).runId }),
  );
  const { length } = outcome.made;
  return done(c, {
    to: tenantPath(c, "repositories"),
    data: { runs: outcome.made, failed: outcome.failed },
    status: 202,
    notice: `${length} ${length === 1 ? "run is" : "runs are"} started.${outcome.reasons && ` Not started: ${outcome.reasons}.`}`,
  });
});

const MAX_NAME = 100;

/** An address as a notice shows it, which has little room. */
function shorten(url: string): string {
  return url.length > MAX_NAME ? `${url.slice(0, MAX_NAME)}…` : url;
}
