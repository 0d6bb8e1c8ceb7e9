/**
 * `npm run bench -- symbols <folder of checkouts | clone URL>… [--missing language] [--wrong] [--errors language]`
 * Recall of universal-ctags' definitions and methods, and lines that differ from its own, by language. `--errors` lists the files of which the
 * grammar cannot read all: an error at a usual construct hides what is behind it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { contentLanguage, detectLanguage, isDefaultIncluded } from "../src/engines/parsing/detect.ts";
import { nodeGrammars } from "../src/engines/parsing/grammars-node.ts";
import { createParser } from "../src/engines/parsing/parser.ts";
import { contentSkipReason, skipReason } from "../src/engines/parsing/skip.ts";
import { compareFile } from "./symbols/compare.ts";
import { ctagsVersion, readTags, type Tag } from "./symbols/ctags.ts";
import { faultOf } from "./symbols/ctags-faults.ts";
import { temporaryFolder } from "./support.ts";

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const GOAL_RECALL = 0.97;
const GOAL_WRONG_LINES = 0.001;

interface Row {
  files: number;
  tags: number;
  found: number;
  wrong: number;
  /** Files with errors, and how they are read. */
  errors: string[];
  partial: number;
  missing: { tag: Tag; repository: string; text: string }[];
  wrongLines: { tag: Tag; repository: string; line: number }[];
}

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { missing: { type: "string" }, wrong: { type: "boolean" }, errors: { type: "string" } },
  });
  if (positionals.length === 0) throw new Error("Give a folder of checkouts, or clone URLs.");
  console.log(`${ctagsVersion()}, Node ${process.versions.node}\n`);
  const rows = new Map<string, Row>();
  const faults = new Map<string, number>();
  for (const root of positionals.flatMap(checkouts)) await addRepository(root, rows, faults);
  report(rows, faults);
  if (values.missing !== undefined) listMissing(rows, values.missing);
  if (values.wrong === true) listWrong(rows);
  for (const file of (values.errors !== undefined && rows.get(values.errors)?.errors) || []) console.log(file);
}

/** Work trees below a folder, the folder itself, or a clone of a URL. */
function checkouts(given: string): string[] {
  if (/^(?:https?|file|ssh):\/\//.test(given)) {
    const target = path.join(temporaryFolder("symbols"), path.basename(given, ".git"));
    execFileSync("git", ["clone", "-q", "--depth", "1", given, target], { stdio: "inherit" });
    return [target];
  }
  if (existsSync(path.join(given, ".git"))) return [given];
  return readdirSync(given, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(given, entry.name, ".git")))
    .map((entry) => path.join(given, entry.name))
    .sort();
}

async function addRepository(root: string, rows: Map<string, Row>, faults: Map<string, number>): Promise<void> {
  const listed = execFileSync("git", ["-C", root, "ls-files", "-z"], { maxBuffer: 1 << 28 })
    .toString()
    .split("\0");
  const files = listed.filter((file) => file !== "" && isDefaultIncluded(file) && skipReason(file) === undefined);
  const tags = Map.groupBy(readTags(root, files), (tag) => tag.path);
  const parser = await createParser(nodeGrammars());
  const repository = path.basename(root);
  for (const [file, all] of tags) {
    const full = path.join(root, file);
    const named = detectLanguage(file);
    if (named === undefined || !lstatSync(full).isFile()) continue;
    const bytes = new Uint8Array(readFileSync(full));
    const language = contentLanguage(named, bytes);
    if (bytes.length > MAX_FILE_BYTES || contentSkipReason(bytes) !== undefined) continue;
    const { symbols, hasErrors, text, outcome } = await parser.parse({ bytes, language });
    if (outcome !== "syntax" && outcome !== "partial" && outcome !== "fallback" && outcome !== "structure") continue;
    const lines = text.split("\n");
    const kept = all.filter((tag) => {
      const fault = faultOf(tag, lines);
      if (fault !== undefined) faults.set(fault, (faults.get(fault) ?? 0) + 1);
      return fault === undefined;
    });
    const row = rowOf(rows, language);
    const { found, missing, wrongLine } = compareFile(kept, symbols);
    row.files++;
    row.tags += kept.length;
    row.found += found;
    row.wrong += wrongLine.length;
    if (hasErrors) row.errors.push(`${repository}/${file} ${outcome}`);
    if (outcome === "partial") row.partial++;
    row.missing.push(...missing.map((tag) => ({ tag, repository, text: lines[tag.line - 1] ?? "" })));
    row.wrongLines.push(...wrongLine.map(({ tag, line }) => ({ tag, line, repository })));
  }
}

function rowOf(rows: Map<string, Row>, language: string): Row {
  const known = rows.get(language);
  if (known !== undefined) return known;
  const counts = { files: 0, tags: 0, found: 0, wrong: 0, partial: 0 };
  const row: Row = { ...counts, errors: [], missing: [], wrongLines: [] };
  rows.set(language, row);
  return row;
}

function report(rows: Map<string, Row>, faults: Map<string, number>): void {
  console.log("language      files    tags  recall  wrong lines  files with errors  partial");
  let tags = 0;
  let wrong = 0;
  for (const [language, row] of [...rows].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const recall = row.found / row.tags;
    tags += row.tags;
    wrong += row.wrong;
    console.log(
      `${language.padEnd(12)} ${pad(row.files, 6)} ${pad(row.tags, 7)} ${pad(percent(recall), 7)} ${pad(row.wrong, 12)} ${pad(row.errors.length, 18)} ${pad(row.partial, 8)}${recall < GOAL_RECALL ? "  below the goal" : ""}`,
    );
  }
  console.log(
    `\n${tags} tags; wrong lines ${percent(wrong / tags, 3)} (goal ≤ ${percent(GOAL_WRONG_LINES)}), recall goal ≥ ${percent(GOAL_RECALL)} in each language`,
  );
  if (faults.size > 0) console.log("\nnot counted, because ctags is wrong:");
  for (const [reason, count] of [...faults].sort(([, a], [, b]) => b - a)) console.log(`${pad(count, 7)}  ${reason}`);
}

function listMissing(rows: Map<string, Row>, language: string): void {
  for (const { tag, repository, text } of rows.get(language)?.missing ?? [])
    console.log(
      `${repository}/${tag.path}:${tag.line} ${tag.kind} ${tag.scope ?? ""} ${tag.name}\t| ${text.trim().slice(0, 110)}`,
    );
}

function listWrong(rows: Map<string, Row>): void {
  for (const { tag, repository, line } of [...rows.values()].flatMap(({ wrongLines }) => wrongLines))
    console.log(`${repository}/${tag.path}:${tag.line} ${tag.kind} ${tag.name}: found at line ${line}`);
}

const pad = (value: string | number, width: number): string => String(value).padStart(width);
const percent = (share: number, digits = 1): string => `${(share * 100).toFixed(digits)} %`;
