// oxlint-disable-next-line no-restricted-imports -- a Durable Object; the rest of the folder is platform-free
import { DurableObject } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { createLogger } from "../../lib/log.ts";
import { databaseOf } from "../db/databases.ts";
import { GateStorage } from "../gate/storage.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { revokeKey } from "../tenancy/keys.ts";
import { tokenOf } from "./addresses.ts";
import { OAuthKv } from "./kv.ts";
import { OAUTH_TABLES } from "./tables.ts";
import type { Entry, GrantMetadata, OAuthEnv, OAuthObjectApi } from "./types.ts";

/** Least time between two sweeps of expired entries. Reads ignore expired entries that are not swept yet. */
const SWEEP_INTERVAL_MS = 10 * 60_000;
/** Longest life of a grant, after which its used tokens need not be remembered. */
const GRANT_MS = 90 * 86_400_000;
/** A refresh token that comes again this soon was sent twice by one client; later it was copied. */
const RACE_MS = 60_000;
const MAX_LISTED = 1_000;

const log = createLogger({ component: "oauth-object" });

/**
 * Entries of the OAuth library: all grants and tokens of one person, or one entry that belongs to nobody (a client, a consent page). The
 * library reads and then writes, so requests to the token endpoint are answered here, those about one grant one at a time: a code or a
 * refresh token works once.
 */
export class OAuthObject extends DurableObject<OAuthEnv> implements OAuthObjectApi {
  readonly #storage: GateStorage;
  readonly #kv: OAuthKv;
  /** The last request about each grant. */
  readonly #busy = new Map<string, Promise<unknown>>();
  #alarmAtMs: number | undefined;

  constructor(ctx: DurableObjectState, env: OAuthEnv) {
    super(ctx, env);
    this.#storage = new GateStorage(ctx.storage, OAUTH_TABLES);
    this.#kv = new OAuthKv(env, { id: ctx.id, object: this });
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAtMs = (await ctx.storage.getAlarm()) ?? undefined;
    });
  }

  async get(key: string): Promise<string | null> {
    return this.#read(key);
  }

  put(key: string, { value, metadata, expiresMs }: Entry): Promise<void> {
    return this.#storage.write(() => this.#insert(key, value, metadata, expiresMs));
  }

  delete(key: string): Promise<void> {
    if (this.#storage.isEmpty) return Promise.resolve();
    return this.#storage.write(() => void this.#storage.sql.exec("delete from entries where key = ?", key));
  }

  claim(key: string, expiresMs: number): Promise<boolean> {
    return this.#storage.write(() => {
      if (this.#read(key) !== null) return false;
      this.#insert(key, String(Date.now()), null, expiresMs);
      return true;
    });
  }

  async list(prefix: string, after: string, limit: number): Promise<(Omit<Entry, "value"> & { key: string })[]> {
    if (this.#storage.isEmpty) return [];
    return this.#storage.sql
      .exec<{ key: string; metadata: string | null; expiresMs: number | null }>(
        `select key, metadata, expires_ms as expiresMs from entries
         where key >= ?1 and key < ?1 || char(1114111) and key > ?2 and (expires_ms is null or expires_ms > ?3)
         order by key limit ?4`,
        prefix,
        after,
        Date.now(),
        Math.min(limit, MAX_LISTED),
      )
      .toArray();
  }

  override async fetch(request: Request): Promise<Response> {
    const body = await request.text();
    const form = new URLSearchParams(body);
    const [userId = "", grantId = ""] = tokenOf(form).split(":");
    const before = this.#busy.get(grantId);
    const answer = (async () => {
      await before?.catch(() => undefined);
      return this.#answer(
        new Request(request.url, { method: "POST", headers: request.headers, body }),
        userId,
        grantId,
        form.get("refresh_token"),
      );
    })();
    this.#busy.set(grantId, answer);
    try {
      return await answer;
    } finally {
      if (this.#busy.get(grantId) === answer) this.#busy.delete(grantId);
    }
  }

  override async alarm(): Promise<void> {
    this.#alarmAtMs = undefined;
    if (this.#storage.isEmpty) return;
    await this.#storage.write(
      () => void this.#storage.sql.exec("delete from entries where expires_ms <= ?", Date.now()),
    );
    const [left] = this.#storage.sql
      .exec<{ count: number; next: number | null }>("select count(*) as count, min(expires_ms) as next from entries")
      .toArray();
    if (left?.count === 0) return this.#storage.deleteAll();
    if (left?.next != null) this.#schedule(left.next);
  }

  async #answer(request: Request, userId: string, grantId: string, refresh: string | null): Promise<Response> {
    const grantKey = `grant:${userId}:${grantId}`;
    const grant = this.#read(grantKey);
    const used = `used:${grantId}:${createHash("sha256")
      .update(refresh ?? "")
      .digest("hex")}`;
    if (grant !== null && refresh !== null) {
      const usedAt = this.#read(used);
      if (usedAt !== null) return this.#refuseUsed(Date.now() - Number(usedAt) > RACE_MS, userId, grantId, grant);
    }
    const { authorizationServer } = await import("./server.ts");
    const env = { OAUTH_KV: this.#kv, DATABASE_URL: this.env.DATABASE_URL };
    // `ctx` is for handlers of resources, of which this server has none.
    const answer = await authorizationServer(new URL(request.url).origin).fetch(
      request,
      env,
      this.ctx as unknown as ExecutionContext,
    );
    if (refresh !== null && answer.ok) await this.claim(used, Date.now() + GRANT_MS);
    if (grant !== null && this.#read(grantKey) === null) await this.#disconnect(userId, grant);
    return answer;
  }

  /** A refresh token that was used. Its grant ends if somebody seems to have copied it (RFC 9700, 4.14.2). */
  async #refuseUsed(isCopied: boolean, userId: string, grantId: string, grant: string): Promise<Response> {
    log.warn("refresh_token_reused", { isCopied });
    if (isCopied) {
      await this.#storage.write(() => {
        const { sql } = this.#storage;
        sql.exec("delete from entries where key = ?", `grant:${userId}:${grantId}`);
        sql.exec("delete from entries where key >= ?1 and key < ?1 || char(1114111)", `token:${userId}:${grantId}:`);
      });
      await this.#disconnect(userId, grant);
    }
    const body = { error: "invalid_grant", error_description: "the refresh token was used already; sign in again" };
    return Response.json(body, {
      status: 400,
      headers: { "Cache-Control": "no-store", "Access-Control-Allow-Origin": "*" },
    });
  }

  /** Revokes the credential of a grant that has ended. */
  async #disconnect(userId: string, grant: string): Promise<void> {
    const { tenantId, credentialId: id } = (JSON.parse(grant) as { metadata: GrantMetadata }).metadata;
    try {
      await revokeKey(databaseOf(this.env, tenantId), { tenantId, id, actor: `user:${userId}` });
    } catch (error) {
      // No credential was made, or it has ended with its person's membership. Otherwise it stays listed, but nobody has a token for it.
      if (!(error instanceof TenancyError)) log.error("agent_not_revoked", error);
    }
  }

  #read(key: string): string | null {
    if (this.#storage.isEmpty) return null;
    const [row] = this.#storage.sql
      .exec<{ value: string }>(
        "select value from entries where key = ? and (expires_ms is null or expires_ms > ?)",
        key,
        Date.now(),
      )
      .toArray();
    return row?.value ?? null;
  }

  #insert(key: string, value: string, metadata: string | null, expiresMs: number | null): void {
    this.#storage.sql.exec(
      `insert or replace into entries (key, value, metadata, expires_ms) values (?, ?, ?, ?)`,
      key,
      value,
      metadata,
      expiresMs,
    );
    if (expiresMs !== null) this.#schedule(expiresMs);
  }

  #schedule(expiresMs: number): void {
    const atMs = Math.max(expiresMs, Date.now() + SWEEP_INTERVAL_MS);
    if (this.#alarmAtMs !== undefined && this.#alarmAtMs <= atMs) return;
    this.#alarmAtMs = atMs;
    void this.ctx.storage.setAlarm(atMs);
  }
}
