import { detectLanguage } from "../../../src/engines/parsing/detect.ts";
import { decodeUses } from "../../../src/engines/relations/record.ts";
import { type Resolved, resolveUse } from "../../../src/engines/relations/resolve.ts";
import type { FileUses } from "../../../src/engines/relations/types.ts";
import { sharedParser } from "../parsing/support.ts";

type Files = Readonly<Record<string, string>>;

/** What each use of a file leads to, as `name@line → path:line`. */
export async function callsIn(files: Files, path: string): Promise<string[]> {
  const parsed = new Map<string, FileUses | undefined>();
  const definitions = new Map<string, { path: string }[]>();
  for (const [own, text] of Object.entries(files)) {
    const bytes = Buffer.from(text);
    const language = detectLanguage(own, bytes);
    const { uses, symbols } = await (await sharedParser()).parse({ bytes, language: language as "typescript" });
    parsed.set(own, uses && decodeUses(uses));
    for (const { name } of symbols) definitions.set(name, [...(definitions.get(name) ?? []), { path: own }]);
  }
  const load = (own: string) => Promise.resolve(parsed.get(own));
  const named = (name: string) => Promise.resolve(definitions.get(name) ?? []);
  const uses = parsed.get(path)?.uses ?? [];
  return Promise.all(
    uses.map(async (use) => `${use.name}@${use.line} → ${shown(await resolveUse(path, use, load, named))}`),
  );
}

const shown = (found: Resolved): string =>
  typeof found === "string" ? found : `${found.path}:${found.line ?? "module"}`;
