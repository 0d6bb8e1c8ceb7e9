/** Reads and writes the version, and checks which versions may follow it. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { PROJECT_ROOT } from "../local/project.ts";
import { OperatorError } from "../errors.ts";
import { pluginFiles, writePlugin } from "./plugin.ts";

/** Semantic versioning without build metadata, which npm ignores. */
const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** A line of a file that carries the version, as a pattern with the version as its second group. */
const PLACES: { file: string; pattern: RegExp }[] = [
  { file: "package.json", pattern: /^( {2}"version": ")([^"]+)/m },
  // The lock file has the project's own version twice, at its top.
  { file: "package-lock.json", pattern: /^( {2}"version": ")([^"]+)/m },
  { file: "package-lock.json", pattern: /^( {4}"": \{\n {6}"name": "[^"]+",\n {6}"version": ")([^"]+)/m },
  { file: "wrangler.toml", pattern: /^(SERVICE_VERSION = ")([^"]+)/m },
  { file: "docs/openapi.json", pattern: /^( {4}"version": ")([^"]+)/m },
  { file: "integrations/github-action/action.yml", pattern: /^( {4}default: codectx@)(\S+)/m },
  { file: "integrations/github-action/example.yml", pattern: /(\/github-action@v)(\S+)/ },
  { file: "integrations/gitlab/code-context.gitlab-ci.yml", pattern: /^( {4}CODECTX_PACKAGE: codectx@)(\S+)/m },
  { file: "integrations/gitlab/code-context.gitlab-ci.yml", pattern: /(\/OWNER\/code-context\/v)([^/]+)/ },
];

/** Files that a new version changes. */
export const VERSION_FILES = [...new Set(PLACES.map(({ file }) => file)), ...Object.keys(pluginFiles())];

/** The version at each place. Throws if a file has none. */
export async function versionsInFiles(): Promise<{ file: string; version: string }[]> {
  return Promise.all(
    PLACES.map(async ({ file, pattern }) => {
      const version = pattern.exec(await readFile(path.join(PROJECT_ROOT, file), "utf8"))?.[2];
      if (version === undefined) throw new OperatorError(`${file} has no version where one is expected`);
      return { file, version };
    }),
  );
}

/** Writes a version to all files that carry it. */
export async function writeVersion(version: string): Promise<void> {
  for (const { file, pattern } of PLACES) {
    const target = path.join(PROJECT_ROOT, file);
    const text = await readFile(target, "utf8");
    await writeFile(
      target,
      text.replace(pattern, (_, before: string) => before + version),
    );
  }
  await writePlugin();
}

/** Negative, zero or positive, by the precedence of semantic versioning. Throws `OperatorError` for what is no version. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  for (const [i, number] of left.core.entries()) {
    const difference = number - (right.core[i] ?? 0);
    if (difference !== 0) return difference;
  }
  // A version with a pre-release comes before the one without.
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length;
  for (const [i, part] of left.pre.entries()) {
    const other = right.pre[i];
    if (other === undefined) return 1;
    if (part !== other) return comparePart(part, other);
  }
  return left.pre.length - right.pre.length;
}

function comparePart(a: string, b: string): number {
  const [isNumber, otherIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && otherIsNumber) return Number(a) - Number(b);
  if (isNumber !== otherIsNumber) return isNumber ? -1 : 1;
  return a < b ? -1 : 1;
}

function parse(version: string): { core: number[]; pre: string[] } {
  const match = VERSION.exec(version);
  if (!match) throw new OperatorError(`"${version}" is not a version such as 1.2.3 or 1.2.3-beta.1`);
  return { core: [match[1], match[2], match[3]].map(Number), pre: match[4]?.split(".") ?? [] };
}
