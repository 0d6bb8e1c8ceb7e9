/**
 * An archive of a new database with all migrations applied. Initialising PostgreSQL takes 3 to 4 s; unpacking the archive takes
 * one. The first database that starts without an archive creates it. It holds no secret: the password belongs to the endpoint.
 */
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { PROJECT_ROOT } from "../project.ts";

const FOLDER = path.join(PROJECT_ROOT, "dist", "database");

/** Path of the archive for this version of PGlite and these migrations. */
export function templatePath(): string {
  const hash = createHash("sha256");
  const entry = createRequire(import.meta.url).resolve("@electric-sql/pglite");
  const manifest = path.join(path.dirname(entry), "..", "package.json");
  for (const file of [manifest, ...globSync("drizzle/**/*.{sql,json}", { cwd: PROJECT_ROOT }).toSorted()]) {
    hash.update(readFileSync(path.resolve(PROJECT_ROOT, file)));
  }
  return path.join(FOLDER, `${hash.digest("hex").slice(0, 16)}.tar`);
}

/** Calls `write` with a temporary file, which then replaces all earlier archives. */
export async function saveTemplate(template: string, write: (file: string) => Promise<void>): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const temporary = path.join(FOLDER, `.${process.pid}-${path.basename(template)}`);
  await write(temporary);
  const outdated = globSync("*.tar", { cwd: FOLDER });
  renameSync(temporary, template);
  for (const name of outdated) if (name !== path.basename(template)) rmSync(path.join(FOLDER, name), { force: true });
}
