/** Production bundles: what `wrangler deploy` would upload, built without a network and kept until a source changes. */
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  globSync,
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
import { StartError } from "../errors.ts";
import { PROJECT_ROOT } from "../project.ts";
import { runWrangler, wranglerComplaint } from "./wrangler.ts";

export const WORKERS = ["api", "indexer", "site"] as const;
export type WorkerName = (typeof WORKERS)[number];

const STAMP = ".sources";
const OPTIONS = "options.json";
/** Licences that have to accompany a bundle. */
const NOTICES = ["LICENSE", "THIRD_PARTY_NOTICES.md"];
/** Raised when what a build writes changes. */
const BUILD_VERSION = "3";

/** The configuration file of a Worker. */
export function configPath(worker: WorkerName): string {
  return path.join(PROJECT_ROOT, worker === "api" ? "wrangler.toml" : `src/${worker}/wrangler.toml`);
}

/** Where a Worker's bundle is. */
export function bundleFolder(worker: WorkerName): string {
  return path.join(PROJECT_ROOT, "dist", worker);
}

/** Builds those bundles that are missing or older than their sources. Returns the names of the built ones. */
export async function buildBundles(): Promise<WorkerName[]> {
  const stamp = hashSources();
  const outdated = WORKERS.filter((worker) => readStamp(worker) !== stamp);
  await Promise.all(outdated.map((worker) => build(worker, stamp)));
  return outdated;
}

/** Hash of all that a bundle is made from: sources, configuration, and the lock file for the dependencies. */
function hashSources(): string {
  const hash = createHash("sha256").update(BUILD_VERSION);
  const sources = globSync(["src/**/*", ...NOTICES, "wrangler.toml", "package-lock.json", "tsconfig.json"], {
    cwd: PROJECT_ROOT,
    withFileTypes: true,
    exclude: (entry) => entry.parentPath.endsWith(`${path.sep}src`) && (entry.name === "local" || entry.name === "cli"),
  });
  const files = sources.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) {
    const content = readFileSync(file);
    hash.update(`${path.relative(PROJECT_ROOT, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

function readStamp(worker: WorkerName): string | undefined {
  const file = path.join(bundleFolder(worker), STAMP);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Builds beside the final place and moves it there in one step, so that two builds at once do no harm. */
async function build(worker: WorkerName, stamp: string): Promise<void> {
  const dist = path.join(PROJECT_ROOT, "dist");
  mkdirSync(dist, { recursive: true });
  const temporary = mkdtempSync(path.join(dist, `.${worker}-`));
  try {
    await runWrangler(["deploy", "--dry-run", "--outdir", temporary, "--config", configPath(worker)]);
    writeFileSync(path.join(temporary, OPTIONS), JSON.stringify(await readWorkerOptions(worker)));
    for (const file of NOTICES) copyFileSync(path.join(PROJECT_ROOT, file), path.join(temporary, file));
    writeFileSync(path.join(temporary, STAMP), stamp);
    replaceFolder(temporary, bundleFolder(worker));
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw new StartError(`the ${worker} Worker cannot be built: ${wranglerComplaint(error)}`);
  }
}

function replaceFolder(from: string, to: string): void {
  for (let attempt = 0; ; attempt++) {
    rmSync(to, { recursive: true, force: true });
    try {
      return renameSync(from, to);
    } catch (error) {
      // Another build has put its own there in between.
      if (attempt === 3) throw error;
    }
  }
}

/** A Worker's configuration in the form that Miniflare takes. */
export interface WorkerOptions {
  name: string;
  /** Bindings and compatibility settings, without modules and variables. */
  options: Omit<V4WorkerOptions, "modules" | "modulesRules" | "bindings">;
  /** Variables with their default values, and the names of secrets with an empty string. */
  variables: Record<string, string>;
}

/** Reads a configuration file with wrangler, whose import takes most of a second; the build keeps the outcome. */
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

/** A module of a bundle, as Miniflare takes it. */
export interface BundleModule {
  type: "ESModule" | "CompiledWasm" | "Text" | "Data";
  path: string;
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
    return type === undefined ? [] : [{ type, path: path.join(folder, name) }];
  });
  const isEntry = (module: BundleModule) => path.basename(module.path) === "worker.js";
  if (!modules.some(isEntry)) throw new StartError(`${folder} holds no worker.js: delete dist and start again`);
  return [...modules.filter(isEntry), ...modules.filter((module) => !isEntry(module))];
}
