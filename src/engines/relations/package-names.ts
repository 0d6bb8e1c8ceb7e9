/** The packages of several repositories, by the names that their manifests give them. */
import { ASIDE } from "../search/traits.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { TextSource } from "../search/types.ts";
import { wholeTexts } from "../search/wanted-text.ts";
import { type Manifest, MANIFESTS, type ManifestKind, readManifest } from "./manifests.ts";

/** Manifests that are read, those nearest to the top of their repositories first, and characters of them. */
const MAX_MANIFESTS = 2_000;
const MAX_CHARACTERS = 4_000_000;
/** Manifests whose texts are read together. */
const BATCH = 200;

export type NamedPackage = Manifest & { revision: number };

export class PackageNames {
  readonly #byName = new Map<string, NamedPackage[]>();
  readonly all: readonly NamedPackage[];

  constructor(packages: readonly NamedPackage[]) {
    this.all = packages;
    for (const each of packages) {
      const key = `${each.kind} ${each.name}`;
      const same = this.#byName.get(key);
      if (same) same.push(each);
      else this.#byName.set(key, [each]);
    }
  }

  named(kind: ManifestKind, name: string): readonly NamedPackage[] {
    return this.#byName.get(`${kind} ${name}`) ?? [];
  }
}

/** What was read of open indexes: revisions do not change. */
const known = new WeakMap<SearchIndex, PackageNames>();

/**
 * The packages of all revisions of an index. Manifests of tests, examples and documentation name none: others do not import them. What is read
 * depends on the files alone.
 */
export async function packageNames(index: SearchIndex, texts: TextSource): Promise<PackageNames> {
  const found = known.get(index);
  if (found) return found;
  const depth = (file: number) => index.path(file).split("/").length;
  const files = MANIFESTS.flatMap((name) => index.filesByName.get(name) ?? [])
    .filter((file) => ((index.traits[file] as number) & ASIDE) === 0)
    .map((file) => ({ file, depth: depth(file) }))
    .toSorted((a, b) => a.depth - b.depth || a.file - b.file)
    .slice(0, MAX_MANIFESTS);
  const packages: NamedPackage[] = [];
  let room = MAX_CHARACTERS;
  for (let from = 0; from < files.length && room > 0; from += BATCH) {
    const batch = files.slice(from, from + BATCH).map(({ file }) => file);
    for (const [i, text] of (await wholeTexts(index, batch, texts)).entries()) {
      const file = batch[i] as number;
      room -= text?.length ?? 0;
      const manifest = text === undefined || room < 0 ? undefined : readManifest(index.path(file), text);
      if (manifest) packages.push({ ...manifest, revision: index.revisionOf(file) });
    }
  }
  const names = new PackageNames(packages);
  known.set(index, names);
  return names;
}
