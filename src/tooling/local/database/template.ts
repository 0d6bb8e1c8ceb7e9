/**
 * The folder of a new database with all migrations applied, of which new databases are copies: to initialise PostgreSQL takes 3 to 4 s. It
 * holds no secret: the password belongs to the endpoint.
 */
import { createHash, randomUUID } from "node:crypto";
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
import { errnoOf, OperatorError } from "../../errors.ts";
import { PROJECT_ROOT } from "../project.ts";

/** Folders that are younger may be in use by another process. */
const IN_USE_MS = 3_600_000;
const FOLDER = path.join(PROJECT_ROOT, "dist", "database");

/** Path of the folder for this version of PGlite and these migrations. */
function templatePath(templates: string): string {
  const hash = createHash("sha256");
  const entry = createRequire(import.meta.url).resolve("@electric-sql/pglite");
  const manifest = path.join(path.dirname(entry), "..", "package.json");
  for (const file of [manifest, ...globSync("drizzle/**/*.{sql,json}", { cwd: PROJECT_ROOT }).toSorted()]) {
    hash.update(readFileSync(path.resolve(PROJECT_ROOT, file)));
  }
  return path.join(templates, hash.digest("hex").slice(0, 16));
}

/** Makes a closed database of a folder. */
type MakeDatabase = (folder: string) => Promise<void>;

/** Path of the template, which is made if there is none and then replaces the earlier ones. */
export async function ensureTemplate(make: MakeDatabase, templates = FOLDER): Promise<string> {
  const template = templatePath(templates);
  if (existsSync(template)) return template;
  mkdirSync(templates, { recursive: true });
  const temporary = mkdtempSync(path.join(templates, `.${path.basename(template)}-`));
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

/**
 * Removes earlier templates and leftovers of killed processes, except those that are young enough to be in use. A template is renamed first,
 * so that whoever copies it notices.
 */
function removeOthers(template: string): void {
  const templates = path.dirname(template);
  for (const name of readdirSync(templates)) {
    const folder = path.join(templates, name);
    const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (folder === template || made >= Date.now() - IN_USE_MS) continue;
    const removed = path.join(templates, `.${randomUUID()}`);
    try {
      renameSync(folder, removed);
    } catch (error) {
      // Another process removes it.
      if (isMissing(error)) continue;
      throw error;
    }
    rmSync(removed, { recursive: true, force: true });
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.code === "ENOENT";

interface CopyOptions {
  /** Where the template is; a parameter for tests, as the copying is. */
  templates?: string;
  copy?: typeof cpSync;
}

/** Makes `folder`, which must not exist, a copy of the template that only its owner can read. Throws `OperatorError` if there is no room. */
export async function copyTemplate(
  make: MakeDatabase,
  folder: string,
  { templates = FOLDER, copy = cpSync }: CopyOptions = {},
): Promise<void> {
  for (let isRepeated = false; ; isRepeated = true) {
    const template = await ensureTemplate(make, templates);
    // PGlite makes files that everyone can write to.
    mkdirSync(folder, { mode: 0o700 });
    try {
      copy(template, folder, { recursive: true, mode: constants.COPYFILE_FICLONE });
      chmodSync(folder, 0o700);
      return;
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      // A process of another version may have removed the template meanwhile.
      if (!isRepeated && isMissing(error)) continue;
      // Node reports a full disk as EIO here.
      const code = errnoOf(error);
      if (code !== "ENOSPC" && code !== "EIO") throw error;
      throw new OperatorError(
        `the database cannot be made in ${folder} (${code}): the disk is full or broken; make room there, or set DATA_DIR to a folder elsewhere`,
      );
    }
  }
}
