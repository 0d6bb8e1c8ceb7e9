import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DeployContext } from "../../../src/tooling/deploy/context.ts";
import { customDomains } from "../../../src/tooling/deploy/domains.ts";
import { Cloudflare } from "../../../src/tooling/deploy/cloudflare.ts";
import { Neon } from "../../../src/tooling/deploy/neon.ts";
import { firstTenant } from "../../../src/tooling/deploy/people.ts";
import { startRelay } from "../../../src/tooling/deploy/relay.ts";
import { previousVersion } from "../../../src/tooling/deploy/rollback.ts";
import { FAKE_TOKEN, FakeCloudflare } from "../../support/fake-cloudflare.ts";
import { FAKE_NEON_KEY, FAKE_NEON_ORG_KEY, FakeNeon, ORGANIZATION } from "../../support/fake-neon.ts";
import { activate, newScript, Refusal } from "../../support/fake-workers.ts";

let cloudflare: FakeCloudflare;
let neon: FakeNeon;
let api: Cloudflare;
let projects: Neon;

beforeAll(async () => {
  [cloudflare, neon] = await Promise.all([FakeCloudflare.start(), FakeNeon.start("postgres://unused@localhost/x")]);
  api = new Cloudflare({ apiUrl: cloudflare.apiUrl, token: FAKE_TOKEN, accountId: cloudflare.accountId });
  projects = new Neon({ apiUrl: neon.apiUrl, apiKey: FAKE_NEON_KEY, orgId: undefined });
});

afterAll(() => Promise.all([cloudflare?.stop(), neon?.stop()]));

/** A function that answers with the status the first time that it sees a change. */
function once(status: number): (change: string) => number | undefined {
  const seen = new Set<string>();
  return (change) => {
    if (seen.has(change)) return undefined;
    seen.add(change);
    return status;
  };
}

describe("the clients of the platforms", () => {
  it("create each thing once, although the platform fails after it was created", async () => {
    cloudflare.answerWith = once(503);
    neon.answerWith = once(500);
    cloudflare.buckets.set("objects", { objects: 0, lifecycle: [], cors: [] });
    const [, , key, project] = await Promise.all([
      api.createBucket("snapshots"),
      api.createQueue("index"),
      api.createBucketToken("index-r2", "objects"),
      projects.createProject("index", undefined),
    ]);
    expect([...cloudflare.buckets.keys()]).toEqual(["objects", "snapshots"]);
    expect([...cloudflare.queues.keys()]).toEqual(["index"]);
    expect([...cloudflare.tokens.keys()]).toEqual([key.accessKeyId]);
    expect(key.secretAccessKey).toBe(cloudflare.secretOf(key.accessKeyId));
    expect([...neon.projects.keys()]).toEqual([project]);
  });

  it("repeat a change that the platform refuses for now", async () => {
    let left = 2;
    cloudflare.beforeChange = () => {
      if (left-- > 0) throw new Refusal(429, 971, "Please wait and consider throttling your request speed");
    };
    await api.createQueue("later");
    cloudflare.beforeChange = () => {};
    expect(left).toBe(-1);
    expect(cloudflare.queues.has("later")).toBe(true);
  });

  it("repeat wrangler's requests that are refused for now, and no change that may have been made", async () => {
    const relay = await startRelay(cloudflare.apiUrl);
    const create = (name: string) =>
      fetch(`${relay.url}/accounts/${cloudflare.accountId}/queues`, {
        method: "POST",
        headers: { Authorization: `Bearer ${FAKE_TOKEN}` },
        body: JSON.stringify({ queue_name: name }),
      });
    let refusals = 2;
    cloudflare.isTooMany = () => refusals-- > 0;
    cloudflare.answerWith = () => undefined;
    expect((await create("relayed")).status).toBe(200);
    expect(refusals).toBe(-1);
    const before = cloudflare.changes.length;
    cloudflare.answerWith = () => 503;
    expect((await create("failed")).status).toBe(503);
    expect(cloudflare.changes.length).toBe(before + 1);
    cloudflare.answerWith = () => undefined;
    cloudflare.isTooMany = () => false;
    relay.close();
  });

  it("find what is on a later page of a list", async () => {
    for (const name of ["a", "b", "c", "d"]) {
      cloudflare.tokens.set(`id-${name}`, { name, value: name, resources: [] });
      neon.projects.set(`id-${name}`, { name: `paged-${name}`, polls: 0, orgId: ORGANIZATION.id });
    }
    expect(await api.findToken("d")).toBe("id-d");
    expect(await projects.findProject("paged-d")).toBe("id-d");
    expect(await api.findToken("none")).toBeUndefined();
    expect(await projects.findProject("paged-none")).toBeUndefined();
  });

  it("find the organization of a Neon key, or say which one to choose", async () => {
    const client = (apiKey: string, orgId?: string) => new Neon({ apiUrl: neon.apiUrl, apiKey, orgId });
    const name = await client(FAKE_NEON_ORG_KEY).createProject("of-an-organization", "aws-eu-central-1");
    expect(neon.projects.get(name)?.orgId).toBe(ORGANIZATION.id);
    neon.organizations.push({ id: "org-second", name: "Second" });
    await expect(client(FAKE_NEON_KEY).createProject("x", undefined)).rejects.toThrow(
      "set NEON_ORG_ID to one of org-morning-bread-81040908 (Acme), org-second (Second)",
    );
    const second = await client(FAKE_NEON_KEY, "org-second").createProject("x", undefined);
    neon.organizations.pop();
    expect(neon.projects.get(second)).toMatchObject({ name: "x", orgId: "org-second" });
    await expect(client("wrong").findProject("x")).rejects.toThrow("answered 401: supplied credentials");
  });

  it("go back to the release before, past uploads of the same release, and leave Workers that it never reached", async () => {
    const worker = (...messages: string[]) => {
      const script = newScript();
      for (const message of messages) {
        const versionId = randomUUID();
        const metadata = { bindings: [], keep_bindings: [], annotations: { "workers/message": message } };
        script.versions.set(versionId, { metadata, secrets: new Map(), code: message, modules: new Map() });
        activate(script, versionId);
      }
      return script;
    };
    // The second release was interrupted after the api Worker, repeated, and interrupted again.
    cloudflare.scripts.set("code-context-api", worker("one", "two", "two"));
    cloudflare.scripts.set("code-context-indexer", worker("zero", "one"));
    const back = await previousVersion(api, "production", "api");
    expect(cloudflare.scripts.get("code-context-api")?.versions.get(back ?? "")?.code).toBe("one");
    expect(await previousVersion(api, "production", "indexer")).toBeUndefined();
  });

  it("attach a custom domain once, never one in use elsewhere, and detach it", async () => {
    const context = (domains: object, unset: string[] = []) =>
      ({
        cloudflare: api,
        domains,
        settings: { environment: "production", unset: new Set(unset) },
      }) as unknown as DeployContext;
    cloudflare.scripts.set("code-context-api", newScript());
    cloudflare.scripts.set("other", newScript());
    const wanted = context({ api: "api.example.com" });
    expect(await customDomains.plan(wanted)).toBe("attach api.example.com to code-context-api");
    await customDomains.apply(wanted);
    expect(await customDomains.plan(wanted)).toBeUndefined();
    await api.attachDomain("used.example.com", "other");
    await expect(customDomains.plan(context({ api: "used.example.com" }))).rejects.toThrow(
      "belongs to the Worker other",
    );
    await expect(customDomains.apply(context({ api: "api.elsewhere.org" }))).rejects.toThrow(
      "its zone must be in this",
    );
    cloudflare.domains.dnsRecords.add("taken.example.com");
    await expect(customDomains.apply(context({ api: "taken.example.com" }))).rejects.toThrow(
      /taken\.example\.com cannot be attached .*100117/,
    );
    await customDomains.apply(context({}, ["API_DOMAIN"]));
    expect([...cloudflare.domains.attached.values()].map(({ hostname }) => hostname)).toEqual(["used.example.com"]);
  });

  it("take a lost answer of the database for no answer, and a missing table for no tenant", async () => {
    let requests = 0;
    let refusal: object | undefined;
    // Speaks Neon's protocol; the first request is lost.
    const host = createServer((request, response) => {
      if (++requests === 1) return void request.socket.destroy();
      const fields = [{ name: "count", dataTypeID: 23 }];
      response.statusCode = refusal ? 400 : 200;
      response.end(JSON.stringify(refusal ?? { command: "SELECT", rowCount: 1, fields, rows: [["1"]] }));
    });
    await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
    const databaseUrl = `postgres://user:password@127.0.0.1:${(host.address() as AddressInfo).port}/db`;
    const context = { databaseUrl, settings: { tenantName: "acme" } } as unknown as DeployContext;
    expect(await firstTenant.plan(context)).toBeUndefined();
    expect(requests).toBe(2);
    refusal = { message: 'relation "tenants" does not exist', code: "42P01" };
    expect(await firstTenant.plan(context)).toBe('create "acme"');
    refusal = { message: "permission denied", code: "42501" };
    await expect(firstTenant.plan(context)).rejects.toThrow();
    await new Promise((resolve) => host.close(resolve));
  });

  it("pass on the reason of a refusal at once", async () => {
    await expect(api.createBucket("snapshots")).rejects.toThrow(/answered 409: .*already exists.*\(10004\)/);
    await expect(api.createBucket("No")).rejects.toThrow("The bucket name is not valid (10005)");
  });
});
