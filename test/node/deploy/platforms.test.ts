import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cloudflare } from "../../../src/deploy/cloudflare.ts";
import { Neon } from "../../../src/deploy/neon.ts";
import { FAKE_TOKEN, FakeCloudflare } from "../../support/fake-cloudflare.ts";
import { FAKE_NEON_KEY, FakeNeon } from "../../support/fake-neon.ts";
import { Refusal } from "../../support/fake-workers.ts";

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

  it("find what is on a later page of a list", async () => {
    for (const name of ["a", "b", "c", "d"]) {
      cloudflare.tokens.set(`id-${name}`, { name, value: name, resources: [] });
      neon.projects.set(`id-${name}`, { name: `paged-${name}`, polls: 0 });
    }
    expect(await api.findToken("d")).toBe("id-d");
    expect(await projects.findProject("paged-d")).toBe("id-d");
    expect(await api.findToken("none")).toBeUndefined();
    expect(await projects.findProject("paged-none")).toBeUndefined();
  });

  it("pass on the reason of a refusal at once", async () => {
    await expect(api.createBucket("snapshots")).rejects.toThrow(/answered 409: .*already exists.*\(10004\)/);
    await expect(api.createBucket("No")).rejects.toThrow("The bucket name is not valid (10005)");
  });
});
