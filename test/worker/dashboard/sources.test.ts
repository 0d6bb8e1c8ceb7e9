import { eq, sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { changeSource, connectRepository, openSource } from "../../../src/service/sources/sources.ts";
import { repositorySources } from "../../../src/service/db/people-schema.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { seal } from "../../../src/lib/seal.ts";
import { createTenant, db } from "../support/tenants.ts";

const encryptionKey = Buffer.alloc(32, 7).toString("base64");
const deps = { db, encryptionKey, gitHosts: { allowLocal: true } };
const HERE = "https://git.example.com/acme/app.git";

async function connected(token?: string) {
  const { tenantId } = await createTenant();
  const cloneUrl = HERE;
  const more = token === undefined ? {} : { token };
  const { workspaceId } = await connectRepository(deps, { tenantId, actor: "test", cloneUrl, branches: [], ...more });
  return {
    workspaceId,
    change: (url: string, newToken?: string) => {
      const given = newToken === undefined ? {} : { token: newToken };
      return changeSource(deps, { tenantId, workspaceId, actor: "test", cloneUrl: url, branches: ["x"], ...given });
    },
    open: async () => {
      const source = await openSource(deps, workspaceId);
      return [source?.url, source?.token];
    },
    audited: async () => {
      const rows = await rowsOf<{ details: Record<string, unknown> }>(
        db,
        sql`select details from audit_events where tenant_id = ${tenantId} and event = 'SOURCE_CHANGED' order by at`,
      );
      return rows.map(({ details }) => details);
    },
  };
}

it("drops the read token when the origin changes, unless a new one is given, and records both addresses", async () => {
  const source = await connected("secret-1");
  expect(await source.open()).toEqual([HERE, "secret-1"]);
  // The same origin, written in another way.
  expect(await source.change("https://GIT.example.com:443/acme/moved.git")).toEqual({ tokenRemoved: false });
  expect((await source.open())[1]).toBe("secret-1");
  for (const [from, to] of [
    ["https://git.example.com/acme/moved.git", "https://evil.example.org/acme/app.git"],
    ["https://git.example.com/acme/app.git", "https://git.example.com.evil.example.org/acme/app.git"],
    ["https://localhost.example.com/a/b", "http://localhost:1234/a/b"],
    ["http://localhost:1234/a/b", "http://localhost:1235/a/b"],
  ] as const) {
    await source.change(from, "secret-2");
    expect((await source.open())[1]).toBe("secret-2");
    expect(await source.change(to)).toEqual({ tokenRemoved: true });
    expect(await source.open()).toEqual([to, undefined]);
    // Nor does it come back with the old address.
    expect(await source.change(from)).toEqual({ tokenRemoved: false });
    expect((await source.open())[1]).toBeUndefined();
    const [event] = (await source.audited()).slice(-2);
    expect(event).toMatchObject({ from, to, hasToken: false, tokenRemoved: true });
  }
  expect(JSON.stringify(await source.audited())).not.toContain("secret-");
  await source.change(HERE, "secret-3");
  expect(await source.change(HERE, "")).toEqual({ tokenRemoved: false });
  expect((await source.open())[1]).toBeUndefined();
});

it("opens a token for the origin that it was sealed for only, even if the address is changed in the database", async () => {
  const source = await connected("secret-1");
  const own = eq(repositorySources.workspaceId, source.workspaceId);
  await db.update(repositorySources).set({ cloneUrl: "https://evil.example.org/acme/app.git" }).where(own);
  await expect(source.open()).rejects.toMatchObject({ code: "CONFLICT" });
  await db.update(repositorySources).set({ cloneUrl: HERE }).where(own);
  expect(await source.open()).toEqual([HERE, "secret-1"]);
});

it("opens a token that an earlier version sealed, and binds it to its origin then", async () => {
  const source = await connected();
  const { workspaceId } = source;
  const own = eq(repositorySources.workspaceId, workspaceId);
  const sealAsBefore = async () => {
    const sealedToken = await seal(encryptionKey, `read-token:${workspaceId}`, "old-secret");
    await db.update(repositorySources).set({ sealedToken, cloneUrl: HERE }).where(own);
  };
  await sealAsBefore();
  expect(await source.open()).toEqual([HERE, "old-secret"]);
  await db.update(repositorySources).set({ cloneUrl: "https://evil.example.org/acme/app.git" }).where(own);
  await expect(source.open()).rejects.toMatchObject({ code: "CONFLICT" });
  await sealAsBefore();
  expect(await source.change("https://evil.example.org/acme/app.git")).toEqual({ tokenRemoved: true });
  expect((await source.open())[1]).toBeUndefined();
});

it("keeps a token out of a change that happens at the same time", async () => {
  const source = await connected("secret-1");
  const changes = await Promise.allSettled([
    source.change("https://evil.example.org/acme/app.git"),
    source.change(HERE, "secret-2"),
    source.change("https://evil.example.org/acme/app.git"),
  ]);
  expect(changes.some(({ status }) => status === "fulfilled")).toBe(true);
  const [url, token] = await source.open();
  expect(token === undefined || url === HERE).toBe(true);
});
