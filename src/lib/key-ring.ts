/**
 * The deployment's encryption keys in the secret `ENCRYPTION_KEY`: a single key, or, during and after a rotation, several keys as JSON. Because
 * they are one secret, a Worker always has either all of them or none.
 */
interface KeyRing {
  /** Seals; also opens. */
  current: string;
  /** Only open what was sealed before. */
  others: readonly string[];
  /**
   * Key of the checks in public ids of credentials and hooks. Never rotated, because issued ids depend on it. It can forge ids that
   * reach the database, but opens nothing.
   */
  ids: string;
}

/** Reads `ENCRYPTION_KEY`. Throws for what begins like a ring and is none. */
export function readKeyRing(secret: string): KeyRing {
  return secret.startsWith("{") ? parseRing(secret) : { current: secret, others: [], ids: secret };
}

function parseRing(text: string): KeyRing {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const { current, others, ids } = (value ?? {}) as Record<string, unknown>;
  const isList = (list: unknown): list is string[] =>
    Array.isArray(list) && list.every((key) => typeof key === "string");
  if (typeof current === "string" && isList(others) && typeof ids === "string") return { current, others, ids };
  throw new Error('ENCRYPTION_KEY: expected a key, or {"current": key, "others": [key], "ids": key}');
}

/** The text of a ring for `ENCRYPTION_KEY`; of a single key, that key. */
export function writeKeyRing(ring: KeyRing): string {
  return ring.others.length === 0 && ring.ids === ring.current ? ring.current : JSON.stringify(ring);
}
