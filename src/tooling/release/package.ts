/** Packs the built package and checks what is in it. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import * as z from "zod";
import { PROJECT_ROOT } from "../local/project.ts";

const PACKAGE_FOLDER = path.join(PROJECT_ROOT, "dist", "cli");

const NPM_TIMEOUT_MS = 120_000;

/** Somewhat above what the package takes today (4.5 MB packed, 37 MB of which grammars are 34.5): growth should be noticed. */
const MAX_PACKED_BYTES = 5_000_000;
const MAX_UNPACKED_BYTES = 45_000_000;
const MAX_CLIENT_BYTES = 160_000;

const Packed = z.object({
  filename: z.string(),
  size: z.number(),
  unpackedSize: z.number(),
  files: z.array(z.object({ path: z.string(), size: z.number(), mode: z.number() })),
});
/** What `npm pack` says of a tarball; sizes in bytes. */
export type Packed = z.infer<typeof Packed>;

/** Runs `npm pack` on the built package. Returns the listing and the path of the tarball in `folder`. */
export async function packPackage(folder: string): Promise<{ packed: Packed; tarball: string }> {
  const args = ["pack", "--json", "--pack-destination", folder, PACKAGE_FOLDER];
  const { stdout } = await promisify(execFile)("npm", args, { timeout: NPM_TIMEOUT_MS, maxBuffer: 10_000_000 });
  const [packed] = z.array(Packed).parse(JSON.parse(stdout));
  if (!packed) throw new Error("npm pack made no tarball");
  return { packed, tarball: path.join(folder, packed.filename) };
}

/** Everything that a file of the package may be called. */
const ALLOWED = [
  /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|THIRD_PARTY_NOTICES\.md)$/,
  /^codectx\.js$/,
  /^[\w-]+\.js$/,
  /^grammars\/[\w-]+\.wasm$/,
  /^client\/(?:index\.js|index\.d\.ts|package\.json|[\w-]+\.js)$/,
];
const REQUIRED = [
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
  "THIRD_PARTY_NOTICES.md",
  "client/index.js",
  "client/index.d.ts",
];

const Manifest = z.looseObject({ bin: z.object({ codectx: z.string() }) });
/** Fields that would run something at installation, or install something. */
const FORBIDDEN_FIELDS = ["scripts", "dependencies", "optionalDependencies", "peerDependencies", "private"];

/** What is wrong with the package; empty if nothing is. */
export async function packageProblems({ size, unpackedSize, files }: Packed): Promise<string[]> {
  const problems: string[] = [];
  const paths = new Set(files.map((file) => file.path));
  for (const file of paths) {
    if (!ALLOWED.some((pattern) => pattern.test(file))) problems.push(`${file} does not belong into the package`);
  }
  for (const file of REQUIRED) if (!paths.has(file)) problems.push(`${file} is missing`);
  if (size > MAX_PACKED_BYTES) problems.push(`the tarball has ${size} bytes, more than ${MAX_PACKED_BYTES}`);
  if (unpackedSize > MAX_UNPACKED_BYTES)
    problems.push(`unpacked it has ${unpackedSize} bytes, more than ${MAX_UNPACKED_BYTES}`);
  const clientFiles = files.filter((file) => /^client\/.*\.js$/.test(file.path));
  const clientSize = clientFiles.reduce((sum, file) => sum + file.size, 0);
  if (clientSize > MAX_CLIENT_BYTES) problems.push(`the client has ${clientSize} bytes, more than ${MAX_CLIENT_BYTES}`);
  const manifest = Manifest.parse(JSON.parse(await read("package.json")));
  for (const field of FORBIDDEN_FIELDS) if (field in manifest) problems.push(`package.json has "${field}"`);
  if (!(await read(manifest.bin.codectx)).startsWith("#!/usr/bin/env node\n"))
    problems.push("the command has no #! line");
  for (const { path: file } of clientFiles) {
    const platform = /\b(?:node:\w+|require\(|process\.|Buffer\b|__dirname)/.exec(await read(file));
    if (platform) problems.push(`${file} uses ${platform[0]}, which is not there in browsers and Workers`);
  }
  for (const file of paths) {
    if (/\.(?:js|ts|json)$/.test(file) && (await read(file)).includes(PROJECT_ROOT)) {
      problems.push(`${file} holds a path of this machine`);
    }
  }
  for (const file of ["LICENSE", "THIRD_PARTY_NOTICES.md"]) {
    if ((await read(file)) !== (await readFile(path.join(PROJECT_ROOT, file), "utf8"))) {
      problems.push(`${file} is not the repository's`);
    }
  }
  return problems;
}

function read(file: string): Promise<string> {
  return readFile(path.join(PACKAGE_FOLDER, file), "utf8");
}
