/**
 * The folder of a new database with all migrations applied, of which new databases are copies: to initialise PostgreSQL takes 3 to 4 s. It
 * holds no secret: the password belongs to the endpoint.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  constants,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { PROJECT_ROOT } from "../project.ts";

/** Folders that are younger may be in use by another process. */
const IN_USE_MS = 3_600_000;
const FOLDER = path.join(PROJECT_ROOT, "dist", "database");

/** Path of the folder for this version of PGlite and these migrations. */
function templatePath(): string {
  const hash = createHash("sha256");
  const entry = createRequire(import.meta.url).resolve("@electric-sql/pglite");
  const manifest = path.join(path.dirname(entry), "..", "package.json");
  for (const file of [manifest, ...globSync("drizzle/**/*.{sql,json}", { cwd: PROJECT_ROOT }).toSorted()]) {
    hash.update(readFileSync(path.resolve(PROJECT_ROOT, file)));
  }
  return path.join(FOLDER, hash.digest("hex").slice(0, 16));
}

/**
 * Path of the template. If there is none, calls `make` with a new folder, which must hold a closed database when it resolves; the folder
 * then replaces the earlier templates.
 */
export async function ensureTemplate(make: (folder: string) => Promise<void>): Promise<string> {
  const template = templatePath();
  if (existsSync(template)) return template;
  mkdirSync(FOLDER, { recursive: true });
  const temporary = mkdtempSync(path.join(FOLDER, `.${path.basename(template)}-`));
  try {
    await make(temporary);
    renameSync(temporary, template);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Another process may have finished first.
    if (!existsSync(template)) throw error;
  }
  removeOthers(template);
  return template;
}

/** Removes earlier templates and leftovers of killed processes, except those that are young enough to be in use. */
function removeOthers(template: string): void {
  for (const name of readdirSync(FOLDER)) {
    const folder = path.join(FOLDER, name);
    const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (folder !== template && made < Date.now() - IN_USE_MS) rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes `folder`, which must not exist, a copy of the template that only its owner can read. */
export function copyTemplate(template: string, folder: string): void {
  // PGlite makes files that everyone can write to.
  mkdirSync(folder, { mode: 0o700 });
  cpSync(template, folder, { recursive: true, mode: constants.COPYFILE_FICLONE });
  chmodSync(folder, 0o700);
}
