/**
 * `npm run bench -- relations <checkout…> [--wrong] [--missed]`
 * The calls of checkouts as we resolve them, beside what the languages' own tools say: go/types, javac, libclang, TypeScript's checker,
 * rustdoc, pyright and intelephense, each where it is installed (docs/relations.md says how). Precision and recall of lines, by language.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { contentLanguage, detectLanguage } from "../src/engines/parsing/detect.ts";
import { nodeGrammars } from "../src/engines/parsing/grammars-node.ts";
import { createParser } from "../src/engines/parsing/parser.ts";
import { hasUses } from "../src/engines/relations/languages.ts";
import { readUses } from "../src/engines/relations/read-uses.ts";
import { decodeUses } from "../src/engines/relations/record.ts";
import { resolveUse } from "../src/engines/relations/resolve.ts";
import type { FileUses } from "../src/engines/relations/types.ts";
import type { GoldCall } from "./relations/gold-call.ts";
import { GOLD, type Gold } from "./relations/gold.ts";

const MAX_FILE_BYTES = 1024 * 1024;

interface Row {
  tool: string;
  calls: number;
  right: number;
  wrong: string[];
  missed: string[];
}

interface Checkout {
  root: string;
  uses: ReadonlyMap<string, FileUses>;
  definitions: ReadonlyMap<string, { path: string }[]>;
}

export async function run(args: string[]): Promise<void> {
  const options = { wrong: { type: "boolean" }, missed: { type: "boolean" }, tool: { type: "string" } } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  if (positionals.length === 0) throw new Error("Give checkouts of repositories.");
  console.log("checkout              tool          calls   right   wrong  precision  recall");
  for (const root of positionals) {
    const checkout = await read(path.resolve(root));
    for (const tool of GOLD) {
      const { name, languages, calls } = tool;
      if (values.tool !== undefined && values.tool !== name) continue;
      const files = [...checkout.uses.keys()].filter((own) => languages.test(own));
      if (files.length === 0) continue;
      const gold = await calls(checkout.root, files, checkout.uses);
      if (typeof gold === "string")
        console.log(`${path.basename(root).padEnd(21)} ${name.padEnd(10)} left out: ${gold}`);
      else report(await compare(checkout, tool, gold), path.basename(root), values);
    }
  }
}

async function read(root: string): Promise<Checkout> {
  const parser = await createParser(nodeGrammars(), { readUses });
  const uses = new Map<string, FileUses>();
  const definitions = new Map<string, { path: string }[]>();
  const listed = execFileSync("git", ["-C", root, "ls-files", "-z"], { maxBuffer: 1 << 28 })
    .toString()
    .split("\0");
  for (const own of listed) {
    const named = own === "" ? undefined : detectLanguage(own);
    if (named === undefined) continue;
    const bytes = readFileSync(path.join(root, own));
    const language = contentLanguage(named, bytes);
    if (bytes.length > MAX_FILE_BYTES || !hasUses(language)) continue;
    const parsed = await parser.parse({ bytes, language });
    if (parsed.uses) uses.set(own, decodeUses(parsed.uses));
    for (const { name } of parsed.symbols) {
      const known = definitions.get(name);
      if (known) known.push({ path: own });
      else definitions.set(name, [{ path: own }]);
    }
  }
  return { root, uses, definitions };
}

const keyOf = (file: string, line: number, name: string): string => `${file}:${line}:${name}`;

async function compare(checkout: Checkout, tool: Gold, gold: readonly GoldCall[]): Promise<Row> {
  const load = (own: string) => Promise.resolve(checkout.uses.get(own));
  const definitions = (name: string) => Promise.resolve(checkout.definitions.get(name) ?? []);
  const wanted = Map.groupBy(gold, ({ path: own, line, name }) => keyOf(own, line, name));
  const row: Row = { tool: tool.name, calls: 0, right: 0, wrong: [], missed: [] };
  const ours = new Map<string, Set<string>>();
  for (const [own, { uses }] of checkout.uses) {
    if (!tool.languages.test(own)) continue;
    for (const use of uses) {
      const key = keyOf(own, use.line, use.name);
      if (!tool.kinds.has(use.kind) || !wanted.has(key)) continue;
      const found = await resolveUse(own, use, load, definitions);
      const places = ours.get(key) ?? new Set();
      ours.set(key, places);
      if (typeof found !== "string" && found.line !== undefined) places.add(`${found.path}:${found.line}`);
    }
  }
  for (const [key, calls] of wanted) {
    if (calls.some(({ to }) => to === "dispatch")) continue;
    const right = new Set(calls.flatMap(({ to, at }) => (checkout.uses.has(to) ? [`${to}:${at}`] : [])));
    const found = [...(ours.get(key) ?? [])];
    if (right.size > 0) row.calls++;
    if (right.size > 0 && found.some((each) => right.has(each))) row.right++;
    else if (right.size > 0 && found.length === 0) row.missed.push(`${key} is ${[...right].join(" ")}`);
    for (const each of found)
      if (!right.has(each)) row.wrong.push(`${key} leads to ${each}, is ${[...right].join(" ") || "none"}`);
  }
  return row;
}

function report(row: Row, name: string, shown: { wrong?: boolean | undefined; missed?: boolean | undefined }): void {
  const precision = row.right / (row.right + row.wrong.length);
  console.log(
    `${name.padEnd(21)} ${row.tool.padEnd(10)} ${pad(row.calls)} ${pad(row.right)} ${pad(row.wrong.length)} ${precision.toFixed(4).padStart(10)} ${(row.right / row.calls).toFixed(3).padStart(7)}`,
  );
  if (shown.wrong === true) for (const each of row.wrong) console.log(`  wrong: ${each}`);
  if (shown.missed === true) for (const each of row.missed) console.log(`  missed: ${each}`);
}

const pad = (value: number): string => String(value).padStart(7);
