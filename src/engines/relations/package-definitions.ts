/** What packages define, in languages in which a package is many files. */
import { GLOBAL_USING } from "./csharp-projects.ts";
import { MAX_CANDIDATES } from "./limits.ts";
import { ANY_NUMBER, oneOf, takes } from "./overload-sets.ts";
import { isC, type PackageRule, packageRuleOf, partialKey } from "./packages.ts";
import type { Bound, Candidate, Follower, Read, ReadSeveral, Resolved } from "./resolved.ts";
import type { FileUses, Meaning } from "./types.ts";

/** A name of a package, which a file names. */
interface NameOf {
  module: string;
  name: string;
}

/** As `Follower.fromPackage`. */
export async function definedInPackage(
  follow: Follower,
  path: string,
  { module, name }: NameOf,
  read: Read,
  readSeveral?: ReadSeveral,
): Promise<Resolved> {
  const rule = packageRuleOf(path);
  if (!rule || name === "*") return "unknown";
  const definition = rule.definition(name);
  // A path of Go begins with its repository; a package of Java can be part of any.
  if (path.endsWith(".go")) {
    const other = await elsewhere(follow, path, rule, { module, name }, read);
    if (other !== undefined) return other;
  }
  const qualified = rule.qualified?.(module, definition);
  // A namespace of the same name is many files, of which none need define it.
  const modules = await follow.files.goModules(path);
  const folders = rule.folders?.(path, module, modules) ?? [undefined];
  const lists = await Promise.all(folders.map((folder) => follow.files.definitions(definition, path, folder)));
  const named = lists
    .flat()
    .filter(
      ({ kind, qualifiedName }) =>
        kind !== "namespace" &&
        (qualified === undefined || qualified.endsWith(qualifiedName ?? "")) &&
        rule.defines?.(name, kind) !== false,
    );
  const candidates = named.map((own) => own.path);
  const holding = candidates.filter((own) => rule.holds(path, module, own, modules));
  const confirms = (own: string, uses: FileUses) => rule.confirms(module, own, uses);
  const found = await inFiles(follow, path, holding, name, { rule, read, readSeveral, confirms });
  if (found !== undefined) return found;
  const uses = await follow.files.uses(path);
  const isOwn = uses !== undefined && module === rule.ownPackage(uses);
  const other = isOwn || path.endsWith(".go") ? undefined : await elsewhere(follow, path, rule, { module, name }, read);
  if (other !== undefined) return other;
  if (isOwn)
    for (const star of [...uses.stars, ...(await follow.files.globalUsings(path))]) {
      if (star.startsWith(GLOBAL_USING)) continue;
      const taken = star === module ? "outside" : await follow.fromPackage(path, star, name, read, readSeveral);
      if (typeof taken !== "string") return taken;
    }
  return "outside";
}

/** What a package of another repository defines under a name; undefined if the package is of none. */
async function elsewhere(
  follow: Follower,
  path: string,
  rule: PackageRule,
  { module, name }: NameOf,
  read: Read,
): Promise<Resolved | undefined> {
  if (module === "") return undefined;
  const found = await follow.files.packageElsewhere(path, module, rule.definition(name));
  if (!found) return undefined;
  const resolved = await inFiles(follow, path, found.paths, name, { rule, read, confirms: () => true });
  if (resolved !== undefined && found.isLikely) follow.isLikely = true;
  return resolved ?? "outside";
}

/** What one of some files defines under a name; undefined if none does. Unknown if several do, or if one could not be read. */
async function inFiles(
  follow: Follower,
  path: string,
  candidates: readonly string[],
  name: string,
  {
    rule,
    read,
    readSeveral,
    confirms,
  }: {
    rule: PackageRule;
    read: Read;
    readSeveral?: ReadSeveral | undefined;
    confirms: (path: string, uses: FileUses) => boolean;
  },
): Promise<Resolved | undefined> {
  const paths = [...new Set(candidates)];
  const found: (Bound & { isPart: boolean })[] = [];
  for (const own of paths.slice(0, MAX_CANDIDATES)) {
    const uses = await follow.files.uses(own);
    if (!uses) return "unknown";
    if (!confirms(own, uses)) continue;
    const isHidden = rule.hides(own) && own !== path;
    const of = isHidden ? uses.exports.get(name) : uses.bindings.get(rule.bound?.(name, own) ?? name);
    if (of && !isImported(own, of)) found.push({ path: own, of, isPart: uses.bindings.has(partialKey(name)) });
  }
  // Of the parts of a class, the one with the shortest path is usually named like the class.
  const [first] = found.toSorted((a, b) => a.path.length - b.path.length);
  if (!first) return undefined;
  const isOne = found.length === 1 || found.every(({ isPart }) => isPart);
  const mayVary = isC(first.path) || first.path.endsWith(".go");
  const variants = isOne || !mayVary ? undefined : await variantsOf(follow, found);
  if (variants) return oneOf(variants) ?? "unknown";
  if (!isOne && readSeveral && paths.length <= MAX_CANDIDATES) return readSeveral(found);
  if (!isOne || paths.length > MAX_CANDIDATES) follow.ambiguous++;
  return isOne && paths.length <= MAX_CANDIDATES ? read(first.path, first.of) : "unknown";
}

/** Whether a file of Java only imports a name; other files of its package do not see that. */
const isImported = (path: string, { to }: Meaning): boolean =>
  path.endsWith(".java") && (to === "import" || to === "member");

/** Files that define a function for different systems. */
const MAX_VARIANTS = 8;

/** Functions of C or Go, or macros, that several files define, of which the build takes one; undefined if some are nothing of the kind, or too many. */
async function variantsOf({ files }: Follower, found: readonly Bound[]): Promise<Candidate[] | undefined> {
  if (found.length > MAX_VARIANTS) return undefined;
  const variants: Candidate[] = [];
  for (const { path, of } of found) {
    const classes = (await files.uses(path))?.classes ?? [];
    if (of.to !== "local" || classes.some(({ line }) => line === of.line)) return undefined;
    variants.push({ path, line: of.line, takes: takes(0, ANY_NUMBER) });
  }
  return variants;
}
