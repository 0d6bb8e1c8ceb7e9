/** What the parts of the authorization server say to each other. */
import type { Restrictions } from "../../contract/credentials.ts";

/** The id of an object. */
export interface ObjectId {
  equals(other: ObjectId): boolean;
}

/** Bindings and variables of the site Worker that the authorization server uses. */
export interface OAuthEnv {
  OAUTH: { idFromName(name: string): ObjectId; get(id: ObjectId): unknown };
  DATABASE_URL: string;
  /** See the variables of the site Worker. */
  GIT_ALLOW_LOCAL: string;
  GIT_HOSTS: string;
}

/** A stored text. */
export interface Entry {
  value: string;
  /** JSON; null if the entry has none. */
  metadata: string | null;
  /** Unix time in milliseconds; null: it stays. */
  expiresMs: number | null;
}

/** RPC interface of the objects. Changes are durable when the call answers. */
export interface OAuthObjectApi {
  get(key: string): Promise<string | null>;
  put(key: string, entry: Entry): Promise<void>;
  delete(key: string): Promise<void>;
  /** Stores a mark unless it is there. Returns whether it was stored: true for one caller only. */
  claim(key: string, expiresMs: number): Promise<boolean>;
  /** Entries whose key begins with `prefix` and comes after `after`, by key. */
  list(prefix: string, after: string, limit: number): Promise<(Omit<Entry, "value"> & { key: string })[]>;
  /** Answers a POST to the token endpoint. Those about one grant are answered one at a time. */
  fetch(request: Request): Promise<Response>;
}

/** What a grant was made for, sealed by the library under its tokens. Holds no secret of a credential. */
export interface AgentProps {
  tenantId: string;
  /** Public id and SHA-256 of the secret of the agent's credential. */
  id: string;
  secretHash: string;
  name: string;
  /** Host to which the client had itself sent back. */
  host: string;
  restrictions: Restrictions;
  days: number;
}

/** What the library keeps of a grant in the clear. */
export interface GrantMetadata {
  tenantId: string;
  credentialId: string;
}
