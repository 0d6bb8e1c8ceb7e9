import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { OAuthKv } from "../../../src/service/oauth/kv.ts";
import type { OAuthEnv } from "../../../src/service/oauth/types.ts";
import { startClock, stopClock } from "../support/clock.ts";

const NOON = Date.UTC(2026, 10, 20, 12);
const { OAUTH } = env as unknown as { OAUTH: DurableObjectNamespace };
const bindings: OAuthEnv = { OAUTH, DATABASE_URL: "", GIT_ALLOW_LOCAL: "false", GIT_HOSTS: "" };

const objectOf = (name: string) => OAUTH.get(OAUTH.idFromName(name));
const countOf = (name: string) =>
  runInDurableObject(objectOf(name), (_, { storage }) =>
    storage.sql.exec("select count(*) as tables from sqlite_master where name = 'entries'").one(),
  );

afterEach(startClock);

describe("the store of the OAuth library", () => {
  it("keeps values with metadata, lists a person's keys in pages, and survives the object", async () => {
    const kv = new OAuthKv(bindings);
    const person = crypto.randomUUID();
    for (let n = 0; n < 5; n++) await kv.put(`token:${person}:g:${n}`, JSON.stringify({ n }), { metadata: { at: n } });
    await kv.put(`grant:${person}:g`, "{}");
    await kv.put(`grant:${person}x:g`, "{}");
    await evictDurableObject(objectOf(`user:${person}`));
    expect(await kv.get(`token:${person}:g:3`, { type: "json" })).toEqual({ n: 3 });
    expect(await kv.get(`token:${person}:g:3`)).toBe('{"n":3}');
    const first = await kv.list({ prefix: `token:${person}:`, limit: 3 });
    expect(first).toMatchObject({ list_complete: false, keys: [{ metadata: { at: 0 } }, {}, {}] });
    const rest = await kv.list({ prefix: `token:${person}:`, ...(!first.list_complete && { cursor: first.cursor }) });
    expect(rest.keys.map(({ name }) => name)).toEqual([`token:${person}:g:3`, `token:${person}:g:4`]);
    expect((await kv.list({ prefix: `grant:${person}:` })).keys).toHaveLength(1);
    await kv.delete(`token:${person}:g:3`);
    expect(await kv.get(`token:${person}:g:3`)).toBeNull();
    await expect(kv.list({ prefix: "client:" })).rejects.toThrow(TypeError);
  });

  it("forgets what has expired at once, and removes its tables when nothing is left", async () => {
    stopClock(NOON);
    const kv = new OAuthKv(bindings);
    const key = `transaction:${crypto.randomUUID()}`;
    expect(await kv.get(key)).toBeNull();
    expect(await countOf(key)).toEqual({ tables: 0 });
    await kv.put(key, "text", { expirationTtl: 600 });
    stopClock(NOON + 599_000);
    expect(await kv.get(key)).toBe("text");
    stopClock(NOON + 601_000);
    expect(await kv.get(key)).toBeNull();
    await runDurableObjectAlarm(objectOf(key));
    expect(await countOf(key)).toEqual({ tables: 0 });
    expect(await kv.get(key)).toBeNull();
  });

  it("lets one of many callers claim a mark", async () => {
    const mark = `answered:${crypto.randomUUID()}`;
    const object = objectOf(mark) as unknown as { claim: (key: string, expiresMs: number) => Promise<boolean> };
    const claims = await Promise.all(Array.from({ length: 20 }, () => object.claim(mark, Date.now() + 60_000)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  it("refuses tables of a later release", async () => {
    const key = `transaction:${crypto.randomUUID()}`;
    await new OAuthKv(bindings).put(key, "text");
    await runInDurableObject(objectOf(key), (_, { storage }) => {
      storage.sql.exec("update tables_version set version = 99, readable_from = 99");
    });
    await evictDurableObject(objectOf(key));
    await expect(new OAuthKv(bindings).get(key)).rejects.toThrow("Deploy the later release again");
  });
});
