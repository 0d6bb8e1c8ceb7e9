/** Classes whose parts are in several files. */
import { MAX_CANDIDATES } from "./limits.ts";
import { packageRuleOf, partialKey } from "./packages.ts";
import type { Place, RelatedFiles } from "./resolved.ts";
import type { ClassInfo } from "./types.ts";

/** The parts of a class in other files of its package. */
export async function otherParts(of: Place, files: RelatedFiles): Promise<({ path: string } & ClassInfo)[]> {
  const rule = packageRuleOf(of.path);
  const uses = await files.uses(of.path);
  const own = [...(uses?.bindings ?? [])].find(
    ([key, to]) => key.startsWith(partialKey("")) && to.to === "local" && to.line === of.line,
  );
  if (!rule || !uses || !own) return [];
  const named = await files.definitions(rule.definition(own[0].slice(partialKey("").length)), of.path);
  const parts: ({ path: string } & ClassInfo)[] = [];
  for (const path of new Set(named.map((each) => each.path).slice(0, MAX_CANDIDATES))) {
    const other = path === of.path ? undefined : await files.uses(path);
    const to = other?.bindings.get(own[0]);
    if (!other || to?.to !== "local" || !rule.confirms(rule.ownPackage(uses), path, other)) continue;
    const part = other.classes.find(({ line }) => line === to.line);
    if (part) parts.push({ path, ...part });
  }
  return parts;
}
