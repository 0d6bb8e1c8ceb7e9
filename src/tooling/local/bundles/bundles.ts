/** Production bundles: the files that `wrangler deploy` would upload, built offline and cached until a source changes. */
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import type { V4WorkerOptions } from "miniflare";
import { OperatorError } from "../../errors.ts";
import { PROJECT_ROOT } from "../project.ts";
import { runWrangler, wranglerComplaint } from "./wrangler.ts";

export const WORKERS = ["api", "indexer", "site"] as const;
export type WorkerName = (typeof WORKERS)[number];

/** The source files of a bundle in this checkout, and their hash. */
const STAMP = ".sources.json";
const METAFILE = "bundle-meta.json";
const OPTIONS = "options.json";
const ENTRY = "worker.js";
/** Licences that must accompany a bundle. */
const NOTICES = ["LICENSE", "THIRD_PARTY_NOTICES.md"];
/** Increment when the output format of a build changes. */
const BUILD_VERSION = "5";
/** Source folders of a bundle besides its imported modules: the site renders the documentation. */
const MORE_SOURCES: Partial<Record<WorkerName, readonly string[]>> = {
  site: ["docs", "integrations", "src/tooling/local/docs", "src/workers/site/assets"],
};

/** The configuration file of a Worker. */
export function configPath(worker: WorkerName): string {
  return path.join(PROJECT_ROOT, worker === "api" ? "wrangler.toml" : `src/workers/${worker}/wrangler.toml`);
}

/** Folder of a Worker's bundle. */
export function bundleFolder(worker: WorkerName): string {
  return path.join(PROJECT_ROOT, "dist", worker);
}

/** The module of a Worker's bundle that is its entry. */
export function bundleEntry(worker: WorkerName): string {
  return path.join(bundleFolder(worker), ENTRY);
}

/** Builds bundles that are missing or out of date. Returns the names of the built ones. */
export async function buildBundles(): Promise<WorkerName[]> {
  const outdated = WORKERS.filter(isOutdated);
  await Promise.all(outdated.map(build));
  return outdated;
}

interface Stamp {
  /** Paths from the root of this checkout. */
  files: string[];
  hash: string;
}

/** A new file has an effect only once a known file changes to import it. */
function isOutdated(worker: WorkerName): boolean {
  const file = path.join(bundleFolder(worker), STAMP);
  if (!existsSync(file)) return true;
  const { files, hash } = JSON.parse(readFileSync(file, "utf8")) as Stamp;
  return hashSources(worker, files) !== hash;
}

/** Hash of a bundle's inputs: sources, configuration, and the lock file for the dependencies. */
function hashSources(worker: WorkerName, files: readonly string[]): string {
  const hash = createHash("sha256").update(BUILD_VERSION);
  const config = path.relative(PROJECT_ROOT, configPath(worker));
  const more = (MORE_SOURCES[worker] ?? []).flatMap(filesBelow);
  for (const name of [...files, ...more, config, "package-lock.json", "tsconfig.json", ...NOTICES]) {
    const file = path.join(PROJECT_ROOT, name);
    const content = existsSync(file) ? readFileSync(file) : undefined;
    hash.update(`${name}\0${content?.length ?? "gone"}\0`).update(content ?? "");
  }
  return hash.digest("hex");
}

/** Paths from the root of this checkout, sorted. */
function filesBelow(folder: string): string[] {
  return readdirSync(path.join(PROJECT_ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(PROJECT_ROOT, path.join(entry.parentPath, entry.name)))
    .toSorted();
}

/** The sources of a bundle that are files of this checkout, from esbuild's metafile in its folder. */
function sourcesOf(worker: WorkerName, folder: string): string[] {
  const { inputs } = JSON.parse(readFileSync(path.join(folder, METAFILE), "utf8")) as { inputs: object };
  const base = path.dirname(configPath(worker));
  return Object.keys(inputs)
    .map((input) => path.relative(PROJECT_ROOT, path.resolve(base, input)))
    .filter((file) => file.startsWith(`src${path.sep}`))
    .toSorted();
}

/** Builds in a temporary folder and renames it, so that concurrent builds are safe. */
async function build(worker: WorkerName): Promise<void> {
  const dist = path.join(PROJECT_ROOT, "dist");
  mkdirSync(dist, { recursive: true });
  const temporary = mkdtempSync(path.join(dist, `.${worker}-`));
  try {
    await runWrangler(["deploy", "--dry-run", "--metafile", "--outdir", temporary, "--config", configPath(worker)]);
    const files = sourcesOf(worker, temporary);
    rmSync(path.join(temporary, METAFILE));
    writeFileSync(path.join(temporary, OPTIONS), JSON.stringify(await readWorkerOptions(worker)));
    for (const file of NOTICES) copyFileSync(path.join(PROJECT_ROOT, file), path.join(temporary, file));
    const stamp: Stamp = { files, hash: hashSources(worker, files) };
    writeFileSync(path.join(temporary, STAMP), JSON.stringify(stamp));
    replaceFolder(temporary, bundleFolder(worker));
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw new OperatorError(`the ${worker} Worker cannot be built: ${wranglerComplaint(error)}`);
  }
}

function replaceFolder(from: string, to: string): void {
  for (let attempt = 0; ; attempt++) {
    rmSync(to, { recursive: true, force: true });
    try {
      return renameSync(from, to);
    } catch (error) {
      // A concurrent build has finished first.
      if (attempt === 3) throw error;
    }
  }
}

/** A Worker's configuration in Miniflare's format. */
interface WorkerOptions {
  name: string;
  /** Bindings and compatibility settings, without modules and variables. */
  options: Omit<V4WorkerOptions, "modules" | "modulesRules" | "bindings">;
  /** Variables with their default values, and the names of secrets with an empty string. */
  variables: Record<string, string>;
}

/** Reads a configuration file with wrangler. Importing wrangler takes most of a second, so the build stores the result. */
async function readWorkerOptions(worker: WorkerName): Promise<WorkerOptions> {
  const wrangler = await import("wrangler");
  const config = wrangler.unstable_readConfig({ config: configPath(worker) }, { hideWarnings: true });
  // Without the secrets' names: wrangler would look for their values in its own places and warn.
  const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions({ ...config, secrets: undefined });
  const { modulesRules: _modulesRules, bindings: _bindings, ...options } = workerOptions;
  const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(config.vars)) variables[name] = textOf(value);
  for (const name of config.secrets?.required ?? []) variables[name] = "";
  return { name: config.name ?? worker, options, variables };
}

/** The configuration of a built Worker. */
export function bundleOptions(worker: WorkerName): WorkerOptions {
  return JSON.parse(readFileSync(path.join(bundleFolder(worker), OPTIONS), "utf8")) as WorkerOptions;
}

/** A module of a bundle in Miniflare's format. */
interface BundleModule {
  type: "ESModule" | "CompiledWasm" | "Text" | "Data";
  path: string;
  contents?: Uint8Array;
}

const MODULE_TYPES: Record<string, BundleModule["type"]> = {
  ".js": "ESModule",
  ".mjs": "ESModule",
  ".wasm": "CompiledWasm",
  ".txt": "Text",
  ".html": "Text",
  ".sql": "Text",
  ".css": "Text",
  ".bin": "Data",
};
/** Scripts for the browser: text to the Worker that serves them. */
const BROWSER_SCRIPT = ".client.js";

/** The modules of a built bundle; the first is the entry. */
export function bundleModules(worker: WorkerName): BundleModule[] {
  const folder = bundleFolder(worker);
  const modules = readdirSync(folder).flatMap((name): BundleModule[] => {
    const type = name.endsWith(BROWSER_SCRIPT) ? "Text" : MODULE_TYPES[path.extname(name)];
    if (type === undefined) return [];
    const file = path.join(folder, name);
    // Miniflare hands bytes on as they are; of a path it reads the file and copies it.
    const isBinary = type === "CompiledWasm" || type === "Data";
    return [{ type, path: file, ...(isBinary && { contents: readFileSync(file) }) }];
  });
  const isEntry = (module: BundleModule) => path.basename(module.path) === ENTRY;
  if (!modules.some(isEntry)) throw new OperatorError(`${folder} holds no ${ENTRY}: delete dist and start again`);
  return [...modules.filter(isEntry), ...modules.filter((module) => !isEntry(module))];
}
