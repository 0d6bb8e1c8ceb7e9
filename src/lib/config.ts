/** Reads Worker variables that belong to no single domain. */

/** True for "1", "true", "on", "yes"; false for "", "0", "false", "off", "no". Throws on anything else. */
export function readFlag(name: string, value: string | undefined): boolean {
  const text = (value ?? "").trim().toLowerCase();
  if (["1", "true", "on", "yes"].includes(text)) return true;
  if (["", "0", "false", "off", "no"].includes(text)) return false;
  throw new Error(`${name} must be "true" or "false"`);
}

/**
 * The public address of a Worker, such as `https://code.example.com`; undefined if the variable is empty. Throws on anything else, paths
 * included.
 */
export function readPublicUrl(name: string, value: string | undefined): string | undefined {
  const text = (value ?? "").trim().replace(/\/$/, "");
  if (text === "") return undefined;
  const isUrl = /^https?:\/\/[^/?#\\@\s]+$/i.test(text) && URL.canParse(text);
  if (!isUrl) throw new Error(`${name} must be a public address without a path, such as https://code.example.com`);
  return new URL(text).origin;
}

/** A whole number of at least 1; undefined if the variable is empty. Throws on anything else. */
export function readCount(name: string, value: string | undefined): number | undefined {
  const text = (value ?? "").trim();
  if (text === "") return undefined;
  const count = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(count) || count < 1)
    throw new Error(`${name} must be a whole number of at least 1`);
  return count;
}
