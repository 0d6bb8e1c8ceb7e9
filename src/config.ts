/** Reading of Workers' variables that belong to no domain. */

/** True for "1", "true", "on", "yes"; false for "", "0", "false", "off", "no". Throws on anything else. */
export function readFlag(name: string, value: string | undefined): boolean {
  const text = (value ?? "").trim().toLowerCase();
  if (["1", "true", "on", "yes"].includes(text)) return true;
  if (["", "0", "false", "off", "no"].includes(text)) return false;
  throw new Error(`${name} must be "true" or "false"`);
}
