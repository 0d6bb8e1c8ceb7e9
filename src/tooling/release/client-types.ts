import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { PROJECT_ROOT } from "../local/project.ts";
import { contractTypes } from "./contract-types.ts";

const TSC_TIMEOUT_MS = 120_000;

/**
 * Writes the declarations of the client and of what it imports into `folder`, with plain types in the contract's place. Returns the
 * path of the entry. Throws with the compiler's output if the client uses what not all of Node, Workers and browsers have.
 */
export async function writeClientTypes(folder: string): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  const config = path.join(PROJECT_ROOT, "src", "interface", "client", "tsconfig.json");
  const emit = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--stripInternal", "--outDir", folder];
  const args = [tsc, "-p", config, ...emit, "--rewriteRelativeImportExtensions"];
  await promisify(execFile)(process.execPath, args, { cwd: PROJECT_ROOT, timeout: TSC_TIMEOUT_MS });
  await writeFile(path.join(folder, "contract", "index.d.ts"), contractTypes());
  return path.join(folder, "interface", "client", "index.d.ts");
}
