/** The store of the OAuth library: the methods of a KV namespace over Durable Objects, whose rows are read as they were written last. */
import { raceTimeout } from "../../lib/pause.ts";
import { CLIENT_METADATA_TTL_SEC, fetchClient, isClientAddress } from "./client-metadata.ts";
import type { ObjectId, OAuthEnv, OAuthObjectApi } from "./types.ts";

const CALL_TIMEOUT_MS = 5_000;
const MAX_LISTED = 1_000;
const CLIENT = "client:";

interface PutOptions {
  /** Unix time in seconds. */
  expiration?: number;
  /** Seconds. */
  expirationTtl?: number;
  metadata?: unknown;
}

interface ListOptions {
  prefix?: string;
  limit?: number;
  cursor?: string;
}

/** Name of the object with an entry: one for each person's grants and tokens; every other entry has its own. */
function objectNameOf(key: string): string {
  const person = /^(?:grant|token):([^:]*):/.exec(key)?.[1];
  return person === undefined ? key : personObject(person);
}

/** Name of the object with a person's grants and tokens. */
export const personObject = (userId: string): string => `user:${userId}`;

/** The object of that name. */
export function oauthObject({ OAUTH: objects }: Pick<OAuthEnv, "OAUTH">, name: string): OAuthObjectApi {
  return objects.get(objects.idFromName(name)) as OAuthObjectApi;
}

export class OAuthKv {
  readonly #env: OAuthEnv;
  readonly #own: { id: ObjectId; object: OAuthObjectApi } | undefined;

  /** `own`: the object in which this store is used; it is called directly. */
  constructor(env: OAuthEnv, own?: { id: ObjectId; object: OAuthObjectApi }) {
    this.#env = env;
    this.#own = own;
  }

  /** A value, parsed with `type: "json"`; null if there is none. Clients that are known by an address are fetched if need be. */
  async get(key: string, options?: { type?: "json" | "text" }): Promise<unknown> {
    const value = (await this.#call(key, (object) => object.get(key))) ?? (await this.#fetchClient(key));
    return value === null || options?.type !== "json" ? value : JSON.parse(value);
  }

  async put(key: string, value: string, options: PutOptions = {}): Promise<void> {
    const { expiration, expirationTtl, metadata } = options;
    const expiresMs =
      expirationTtl !== undefined
        ? Date.now() + expirationTtl * 1_000
        : expiration !== undefined
          ? expiration * 1_000
          : null;
    const entry = { value, metadata: metadata === undefined ? null : JSON.stringify(metadata), expiresMs };
    await this.#call(key, (object) => object.put(key, entry));
  }

  async delete(key: string): Promise<void> {
    await this.#call(key, (object) => object.delete(key));
  }

  /** Keys of one person's object. Throws `TypeError` for a prefix that names no person: those entries are in objects of their own. */
  async list({ prefix = "", limit = MAX_LISTED, cursor = "" }: ListOptions = {}) {
    if (objectNameOf(prefix) === prefix) throw new TypeError("entries are listed by person");
    const rows = await this.#call(prefix, (object) => object.list(prefix, cursor, limit));
    const keys = rows.map(({ key, metadata, expiresMs }) => ({
      name: key,
      expiration: expiresMs === null ? undefined : Math.floor(expiresMs / 1_000),
      metadata: metadata === null ? undefined : (JSON.parse(metadata) as unknown),
    }));
    const last = keys.length < limit ? undefined : keys.at(-1)?.name;
    return last === undefined
      ? { keys, list_complete: true as const }
      : { keys, list_complete: false as const, cursor: last };
  }

  async #fetchClient(key: string): Promise<string | null> {
    const clientId = key.startsWith(CLIENT) ? key.slice(CLIENT.length) : "";
    if (!isClientAddress(clientId)) return null;
    const client = await fetchClient(clientId, this.#env, (input, init) => fetch(input, init));
    if (client === null) return null;
    const value = JSON.stringify(client);
    await this.put(key, value, { expirationTtl: CLIENT_METADATA_TTL_SEC });
    return value;
  }

  #call<T>(key: string, run: (object: OAuthObjectApi) => Promise<T>): Promise<T> {
    const name = objectNameOf(key);
    if (this.#own && this.#env.OAUTH.idFromName(name).equals(this.#own.id)) return run(this.#own.object);
    return raceTimeout(run(oauthObject(this.#env, name)), CALL_TIMEOUT_MS);
  }
}
