/**
 * `npm run bench -- relations <checkout…> [--latency] [--tool NAME] [--gold FOLDER] [--wrong] [--missed]`
 * What `callers` answers for each definition of some checkouts, beside what the languages' own tools say: go/types, javac, libclang,
 * TypeScript's checker, rustdoc, pyright, intelephense, Roslyn and Ruby's TracePoint, each where it is installed (docs/relations.md says how). Precision and recall of lines by certainty,
 * and of calling functions. With `--gold`, the tools' answers are kept in a folder, for the next run over the same checkouts. `--latency` measures how
 * long answers take instead.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { fileParser } from "../src/cli/indexing/parse-file.ts";
import { contentLanguage, detectLanguage } from "../src/engines/parsing/detect.ts";
import { UsesIndex } from "../src/engines/relations/uses-index.ts";
import { openIndex } from "../src/engines/search/search-index.ts";
import { Segment } from "../src/engines/search/segment.ts";
import { buildSegment } from "../src/engines/search/segment-writer.ts";
import { buildTable } from "../src/engines/search/table.ts";
import type { RevisionFile, TextSource } from "../src/engines/search/types.ts";
import { add, ask, type Counts, type Difference, noCounts, type Tier } from "./relations/asked.ts";
import type { GoldCall } from "./relations/gold-call.ts";
import { GOLD, type Gold } from "./relations/gold.ts";
import { latency, type Opened } from "./relations/latency.ts";
import { inMemory } from "../src/engines/search/bytes.ts";

const MAX_FILE_BYTES = 1024 * 1024;

interface Checkout extends Opened {
  paths: string[];
}

interface Options {
  wrong?: boolean | undefined;
  missed?: boolean | undefined;
  tool?: string | undefined;
  gold?: string | undefined;
}

export async function run(args: string[]): Promise<void> {
  const options = {
    wrong: { type: "boolean" },
    missed: { type: "boolean" },
    tool: { type: "string" },
    gold: { type: "string" },
    latency: { type: "boolean" },
  } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  if (positionals.length === 0) throw new Error("Give checkouts of repositories.");
  if (values.latency === true) {
    for (const root of positionals) await latency(await read(path.resolve(root)));
    return;
  }
  console.log(`${" ".repeat(50)}certain          + likely     all   calling functions`);
  console.log("checkout           tool        lines   right wrong  recall     P     R       R      P     R    F1");
  const sums = new Map<string, Counts>();
  for (const root of positionals) {
    const checkout = await read(path.resolve(root));
    for (const tool of GOLD) {
      if (values.tool !== undefined && values.tool !== tool.name) continue;
      const gold = await goldOf(checkout, tool, values);
      if (gold === undefined) continue;
      const { counts, differences } = await ask(gold, checkout.open);
      if (counts.lines === 0) continue;
      console.log(row(path.basename(root), tool.name, counts));
      list(checkout.root, differences, values);
      for (const name of [tool.name, "all"]) {
        const sum = sums.get(name) ?? noCounts();
        add(sum, counts);
        sums.set(name, sum);
      }
    }
  }
  if (positionals.length > 1) for (const [name, counts] of sums) console.log(row("together", name, counts));
}

async function read(root: string): Promise<Checkout> {
  const parse = fileParser(undefined);
  const files: RevisionFile[] = [];
  const analyses = new Map<string, Uint8Array>();
  const listed = execFileSync("git", ["-C", root, "ls-files", "-z"], { maxBuffer: 1 << 28 })
    .toString()
    .split("\0");
  for (const own of listed) {
    const named = own === "" || !existsSync(path.join(root, own)) ? undefined : detectLanguage(own);
    if (named === undefined) continue;
    const bytes = readFileSync(path.join(root, own));
    if (bytes.length > MAX_FILE_BYTES) continue;
    const language = contentLanguage(named, bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const outcome = await parse(new Uint8Array(bytes), language);
    if (!("analysis" in outcome)) continue;
    analyses.set(`${sha256} ${language}`, outcome.analysis);
    files.push({ path: own, sha256, language });
  }
  const bytes = buildSegment([...analyses.values()]);
  const segment = await Segment.open(inMemory(bytes));
  const { table } = buildTable(files, [{ id: "segment", segment }]);
  const index = await openIndex([{ table: inMemory(table), segment: () => inMemory(bytes) }]);
  return { root, index, paths: files.map((file) => file.path), open: () => new UsesIndex(index, textsIn(root)) };
}

/** The texts of a checkout's files, such as its manifests. Signatures are not asked for. */
function textsIn(root: string): TextSource {
  return (wanted) =>
    wanted.map(({ path: own, chunks }) => {
      const lines = readFileSync(path.join(root, own), "utf8").split("\n");
      const texts = chunks.map(({ startLine, endLine }) => lines.slice(startLine - 1, endLine).join("\n"));
      return { chunks: texts, signatures: [] };
    });
}

/** The calls as a tool sees them; undefined if the checkout has no file for it, or it is not there. */
async function goldOf({ root, paths, open }: Checkout, tool: Gold, options: Options): Promise<GoldCall[] | undefined> {
  const files = paths.filter((own) => tool.languages.test(own));
  if (files.length === 0) return undefined;
  const kept =
    options.gold && path.join(options.gold, `${path.basename(root)}-${tool.name.replaceAll(/\W/g, "-")}.json`);
  if (kept && existsSync(kept)) return JSON.parse(readFileSync(kept, "utf8")) as GoldCall[];
  const calls = await tool.calls(root, files, async (own) => (await open().uses(own))?.uses ?? []);
  if (typeof calls === "string") {
    console.log(`${path.basename(root).padEnd(18)} ${tool.name.padEnd(8)} left out: ${calls}`);
    return undefined;
  }
  if (kept) {
    mkdirSync(path.dirname(kept), { recursive: true });
    writeFileSync(kept, JSON.stringify(calls));
  }
  return calls;
}

const part = (share: number): string => share.toFixed(3).padStart(6);
const precision = ({ right, wrong }: Tier): number => right / (right + wrong);

function row(name: string, tool: string, { lines, certain, likely, all, callers }: Counts): string {
  const count = (value: number, width: number) => String(value).padStart(width);
  const [p, r] = [precision(callers), callers.right / callers.calling];
  const sure = `${count(certain.right, 7)} ${count(certain.wrong, 5)} ${part(certain.right / lines)}`;
  const both = `${part(precision(likely))} ${part(likely.right / lines)}`;
  const f1 = (2 * p * r) / (p + r);
  return `${name.padEnd(18)} ${tool.padEnd(8)} ${count(lines, 7)} ${sure}  ${both}  ${part(all.right / lines)}  ${part(p)} ${part(r)} ${part(f1)}`;
}

function list(root: string, differences: readonly Difference[], shown: Options): void {
  for (const { certainty, isWrong, path: own, line, name, definition } of differences) {
    if (!(isWrong ? shown.wrong : shown.missed)) continue;
    const text = readFileSync(path.join(root, own), "utf8").split("\n")[line - 1]?.trim().slice(0, 150) ?? "";
    console.log(`  ${isWrong ? "wrong" : "missed"} (${certainty}): ${own}:${line} ${name} → ${definition} | ${text}`);
  }
}
