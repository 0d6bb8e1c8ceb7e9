/**
 * `npm run bench -- grep <work tree>… [--face work-tree|commit|hosted] [--patterns N] [--seed N]`, or
 * `npm run bench -- grep --tenant <folder of work trees> [--data DIR] [--seed N]` (grep/tenant.ts): compares the lines that exact search finds
 * with those of `rg` on the same files, for patterns made from the lines of the tree, and times both. The work trees must have no
 * uncommitted edits, and `rg` must be installed. With `hosted` a service indexes the commit first, and its answers are timed as a client sees
 * them; of one that ended at its budget only the count is shown.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import type { RevisionTexts } from "../src/engines/exact/types.ts";
import { type FaceName, FACES, openFace, openWorkTree, type Pattern } from "./grep/faces.ts";
import { benchTenant } from "./grep/tenant.ts";
import { quantile } from "./retrieval/metrics.ts";
import { median, mib } from "./support.ts";

const MAX_SHOWN = 5;
const MAX_PATTERN = 60;
/** They have no n-grams and match in every file. */
const LARGE: readonly Pattern[] = [{ pattern: String.raw`\w+\s+\w` }, { pattern: String.raw`[a-z_]+[^a-z]` }];

const USAGE =
  "usage: npm run bench -- grep <work tree>… [--face work-tree|commit|hosted] [--patterns N] [--seed N], or --tenant <folder of work trees> [--data DIR]";

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      face: { type: "string", default: FACES[0] },
      patterns: { type: "string", default: "500" },
      seed: { type: "string", default: "1" },
      tenant: { type: "string" },
      data: { type: "string" },
    },
  });
  if (values.tenant !== undefined) return benchTenant(values.tenant, values.data, generator(Number(values.seed)));
  const face = FACES.find((name) => name === values.face);
  if (positionals.length === 0 || face === undefined) throw new Error(USAGE);
  let failures = 0;
  for (const root of positionals)
    failures += await compare(path.resolve(root), face, Number(values.patterns), Number(values.seed));
  if (failures > 0) process.exitCode = 1;
}

async function compare(root: string, name: FaceName, count: number, seed: number): Promise<number> {
  const texts = await openWorkTree(root);
  const paths = (await texts.files()).filter(({ content }) => content !== undefined).map((file) => file.path);
  const withheld = await withheldLines(texts, paths);
  const face = await openFace(name, root);
  const random = generator(seed);
  const own: number[] = [];
  const theirs: number[] = [];
  let failures = 0;
  let found = 0;
  let cut = 0;
  try {
    for (let i = 0; i < count; i++) {
      const pattern = makePattern(root, paths, random);
      const expected = ripgrep(root, paths, pattern);
      const { lines, ms, isWhole } = await face.grep(pattern);
      theirs.push(expected.ms);
      own.push(ms);
      const wanted = expected.lines?.filter((place) => !withheld.has(place));
      found += wanted?.length ?? 0;
      if (!isWhole) cut++;
      const isRight =
        lines === undefined || wanted === undefined ? lines === wanted : isSame(lines, wanted) || !isWhole;
      if (isRight) continue;
      if (failures++ < MAX_SHOWN)
        console.log(`  differs: ${JSON.stringify(pattern)}`, difference(lines ?? [], wanted ?? []));
    }
    const peak = await face.memoryOf?.(LARGE);
    if (peak !== undefined) console.log(`  ${LARGE.length} large searches at once: ${mib(peak)} at most, of 128 MiB`);
  } finally {
    await face.close();
  }
  const times = `p50 ${median(own).toFixed(1)} ms, p95 ${quantile(own, 0.95).toFixed(1)} ms, rg ${median(theirs).toFixed(1)} ms (with its start)`;
  console.log(
    `${path.basename(root)}, ${name}: ${face.fileCount} of ${paths.length} files, ${count} patterns, ${found} lines; ${failures} answers differ, ${cut} ended at the budget; ${times}`,
  );
  return failures;
}

/** Lines that may hold secrets, which exact search neither finds nor shows. */
async function withheldLines(texts: RevisionTexts, paths: readonly string[]): Promise<Set<string>> {
  const lines = new Set<string>();
  for await (const read of texts.read(paths))
    if ("withheld" in read)
      for (const [from, to] of read.withheld)
        for (let line = from; line <= to; line++) lines.add(`${read.content}:${line}`);
  return lines;
}

/** `path:line` of each line; undefined if `rg` refuses the pattern. */
function ripgrep(root: string, paths: readonly string[], flags: Pattern): { lines: string[] | undefined; ms: number } {
  // `$` matches before CRLF, as `--crlf` has it.
  const options = [
    "--no-config",
    "--no-heading",
    "--with-filename",
    "-n",
    "-a",
    "--no-messages",
    "--color=never",
    "-0",
  ];
  if (flags.fixedStrings) options.push("-F");
  if (flags.ignoreCase) options.push("-i");
  if (flags.wordRegexp) options.push("-w");
  if (flags.pattern.endsWith("$") && !flags.fixedStrings) options.push("--crlf");
  const startedAt = performance.now();
  const { stdout, status } = spawnSync("rg", [...options, "-e", flags.pattern, "--", ...paths], {
    cwd: root,
    maxBuffer: 2 ** 30,
  });
  const ms = performance.now() - startedAt;
  if (status === 2) return { lines: undefined, ms };
  const lines = stdout
    .toString("latin1")
    .split("\n")
    .filter((line) => /^[^\0]+\0\d+:/.test(line));
  return {
    lines: lines.map((line) =>
      Buffer.from(line.slice(0, line.indexOf(":", line.indexOf("\0"))), "latin1")
        .toString()
        .replace("\0", ":"),
    ),
    ms,
  };
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  const wanted = new Set(b);
  return a.length === b.length && a.every((line) => wanted.has(line));
}

function difference(own: readonly string[], wanted: readonly string[]): string {
  const [ours, theirs] = [new Set(own), new Set(wanted)];
  const more = own.filter((line) => !theirs.has(line)).slice(0, MAX_SHOWN);
  const less = wanted.filter((line) => !ours.has(line)).slice(0, MAX_SHOWN);
  return `more: ${more.join(" ")} less: ${less.join(" ")}`;
}

/** A pattern made of a part of a random line. */
function makePattern(root: string, paths: readonly string[], random: (n: number) => number): Pattern {
  for (;;) {
    const bytes = readFileSync(path.join(root, paths[random(paths.length)] ?? ""));
    const lines = bytes.toString().split("\n");
    const line = (lines[random(lines.length)] ?? "").replace(/\r$/, "");
    const start = random(Math.max(1, line.length - 3));
    const part = line.slice(start, start + 3 + random(MAX_PATTERN)).toWellFormed();
    const words = line.match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
    const word = words[random(Math.max(1, words.length))] ?? "";
    if (part.includes("\0") || part.includes("\ufffd") || word === "") continue;
    const escaped = part.replace(/[\\.+*?()|[\]{}^$#&\-~]/g, String.raw`\$&`);
    const other = words[random(words.length)] ?? word;
    const kinds: Pattern[] = [
      { pattern: part, fixedStrings: true },
      { pattern: word },
      { pattern: word, wordRegexp: true },
      { pattern: word.toLowerCase(), ignoreCase: true },
      { pattern: `${escaped}$` },
      { pattern: `^${escaped}` },
      { pattern: `${word}|${other}x?` },
      { pattern: `[${word.slice(0, 3)}]+${word.slice(1, 3)}\\w*` },
      { pattern: `\\b${word.slice(0, 2)}\\w+\\s*[(=:{]` },
      { pattern: `${word}\\s+.*${other}` },
      { pattern: `(?i)${word}[^a-z]{1,3}` },
      { pattern: `${word.slice(0, 1)}{2,}|\\p{Lu}{3}${word.slice(-1)}` },
      { pattern: part },
    ];
    return kinds[random(kinds.length)] as Pattern;
  }
}

function generator(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}
