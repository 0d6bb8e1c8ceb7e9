/** The modules of a repository of Go, by the paths that their `go.mod` state: imports name packages by these. */
import { readManifest } from "./manifests.ts";
import type { ConfiguredFiles } from "./script-configs.ts";

/** Manifests that are read. */
const MAX_MANIFESTS = 300;
/** Folders of an import that are taken off to find its module. */
const MAX_DEPTH = 30;

/** The files of a revision, and which of them are tests. */
type Files = ConfiguredFiles & { isTest(path: string): boolean };

export class GoModules {
  /** Folders by module; undefined for a path that several state. */
  readonly #folders: ReadonlyMap<string, string | undefined>;

  constructor(folders: ReadonlyMap<string, string | undefined>) {
    this.#folders = folders;
  }

  /** Whether no `go.mod` states a path: packages are then told by the paths of their folders. */
  get isEmpty(): boolean {
    return this.#folders.size === 0;
  }

  /** Whether an import names a package of one of the modules. */
  isOwn(module: string): boolean {
    return [...modulePrefixes(module)].some(([prefix]) => this.#folders.has(prefix));
  }

  /** The folder of the package that an import names; undefined if it is in none of the modules. */
  packageFolder(module: string): string | undefined {
    for (const [prefix, inner] of modulePrefixes(module)) {
      if (!this.#folders.has(prefix)) continue;
      const folder = this.#folders.get(prefix);
      return folder === undefined ? undefined : [folder, inner].filter((part) => part !== "").join("/");
    }
    return undefined;
  }
}

export const NO_MODULES = new GoModules(new Map());

/** The paths of modules that the package of an import may be in, the longest first, each with the folder of the package there. */
export function* modulePrefixes(module: string): Generator<[prefix: string, inner: string]> {
  let end = module.length;
  for (let depth = 0; end > 0 && depth < MAX_DEPTH; depth++) {
    yield [module.slice(0, end), module.slice(end + 1)];
    end = module.lastIndexOf("/", end - 1);
  }
}

/** Reads the manifests of a revision. A module among the tests is one that these import, unless another one states the same path. */
export async function readGoModules(files: Files): Promise<GoModules> {
  const paths = files.paths.filter((path) => /(?:^|\/)go\.mod$/.test(path));
  const [tests = [], sources = []] = [true, false].map((isTest) =>
    paths.filter((path) => files.isTest(path) === isTest),
  );
  const ofTests = await foldersByModule(files, tests.slice(0, MAX_MANIFESTS));
  return new GoModules(new Map([...ofTests, ...(await foldersByModule(files, sources.slice(0, MAX_MANIFESTS)))]));
}

async function foldersByModule(files: Files, paths: readonly string[]): Promise<Map<string, string | undefined>> {
  const folders = new Map<string, string | undefined>();
  for (const [i, text] of (await files.textsOf(paths)).entries()) {
    const found = text === undefined ? undefined : readManifest(paths[i] as string, text);
    if (found?.kind === "go") folders.set(found.name, folders.has(found.name) ? undefined : found.folder);
  }
  return folders;
}
