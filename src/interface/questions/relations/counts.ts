/** Numbers of lines by how sure they are, as answers begin with them. */
import type { Certainty } from "./found.ts";

export type Counts = Record<Certainty, number>;

export function noCounts(): Counts {
  return { certain: 0, likely: 0, name: 0 };
}

export function countsOf(lines: readonly { certainty: Certainty }[]): Counts {
  const counts = noCounts();
  for (const { certainty } of lines) counts[certainty]++;
  return counts;
}

/** Such as `12 certain, 3 by name`. */
export function countedText({ certain, likely, name }: Counts): string {
  const parts = [certain > 0 && `${certain} certain`, likely > 0 && `${likely} likely`, name > 0 && `${name} by name`];
  return parts.filter((part) => part !== false).join(", ");
}

/** What to say of a name that no index defines. */
export function outsideText(name: string, outside: readonly string[], similar: readonly string[] = []): string {
  if (isOwnModule(name, outside)) return `${name} is a package that files import`;
  const from = outside.length === 0 ? "" : `; files import it from ${outside.join(", ")}`;
  const near = similar.length === 0 ? "" : `; similar: ${similar.join(", ")}`;
  return `nothing in the index defines ${name}${from}${near}`;
}

/** Whether what was asked for is a package: a name without uses, which files import. */
export const isOwnModule = (name: string, outside: readonly string[] = []): boolean => outside[0] === name;

/** What to say of names at a position that lead to no definition. */
export function leadsNowhereText(names: readonly string[], packages: readonly string[] = []): string {
  const from = packages.length === 0 ? "" : ` (imported from ${packages.join(", ")})`;
  return `${names.join(", ")} leads to no definition of this index${from}`;
}
