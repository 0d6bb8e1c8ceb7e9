/**
 * `npm run bench -- words --eval DIR --repos DIR [--cache DIR] [--all]`
 *
 * Misspelt words: queries of semble with one slip in one word, beside the same queries as they were written. What the slip was taken for,
 * and how often the first file stays the first. Also how many queries are changed that have no slip, of those that the repository
 * answers and of those about what it does not have. `--all` lists every change.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { stemOf } from "../src/engines/search/scanner.ts";
import { search } from "../src/engines/search/search.ts";
import { filesOfFolder, indexCorpus, parseFiles, ParsedContents } from "./retrieval/corpus.ts";
import { evaluationFolders } from "./support.ts";

/** Queries about things that hardly one of the repositories has. */
const ABSENT = [
  "video transcoding pipeline",
  "graphql resolver schema",
  "kubernetes pod scheduling",
  "shopping cart checkout",
  "neural network training loop",
  "pdf invoice generation",
  "raft leader election",
  "two factor authentication",
  "how does the garbage collector mark objects",
  "language model tokenizer",
  "inventory stock reservation",
  "where are user avatars uploaded",
];
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const SEED = 12_345;

/** Integers below a limit, the same sequence in every run. */
function numbers(): (limit: number) => number {
  let state = SEED;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** The word with a letter left out, added, replaced or swapped with the next one; the first letter stays. */
function withSlip(word: string, next: (limit: number) => number): string {
  const at = 1 + next(word.length - 2);
  const letter = LETTERS[next(LETTERS.length)] ?? "";
  const [before, after] = [word.slice(0, at), word.slice(at + 1)];
  const slips = [before + after, before + letter + word.slice(at), before + letter + after];
  return [...slips, `${before}${word[at + 1] ?? ""}${word[at] ?? ""}${word.slice(at + 2)}`][next(4)] ?? word;
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      eval: { type: "string" },
      repos: { type: "string" },
      cache: { type: "string" },
      all: { type: "boolean", default: false },
    },
  });
  const { evalFolder, repos } = evaluationFolders(values);
  const parsed = new ParsedContents(values.cache);
  const next = numbers();
  const count = { queries: 0, changed: 0, absent: 0, absentChanged: 0, slips: 0, right: 0, wrong: 0, sameFirst: 0 };
  for (const name of readdirSync(repos).sort()) {
    const file = path.join(evalFolder, "semble", `${name}.json`);
    if (!existsSync(file)) continue;
    const { index, texts } = await indexCorpus(await parseFiles(filesOfFolder(path.join(repos, name)), parsed));
    const ask = async (query: string) => {
      const { results, understood = [], weak } = await search(index, { query }, texts);
      const taken = understood.map(({ word, as }) => `${word} → ${as}`).join(", ");
      if (values.all && taken !== "") console.log(`${name}: ${query}: ${taken}`);
      return { first: results[0]?.path, understood, isChanged: taken !== "", weak };
    };
    for (const query of ABSENT) {
      count.absent++;
      if ((await ask(query)).isChanged) count.absentChanged++;
    }
    for (const { query } of JSON.parse(readFileSync(file, "utf8")) as { query: string }[]) {
      const { first, isChanged, weak } = await ask(query);
      count.queries++;
      if (isChanged) count.changed++;
      const words = query.match(/(?<![A-Za-z])[a-z]{5,}(?![A-Za-z])/g) ?? [];
      const word = words[next(Math.max(1, words.length))];
      if (word === undefined || isChanged || weak) continue;
      const slip = withSlip(word, next);
      if (slip === word) continue;
      const misspelt = await ask(query.replace(word, slip));
      count.slips++;
      if (misspelt.first === first) count.sameFirst++;
      const as = misspelt.understood.find((each) => each.word === slip)?.as;
      if (as !== undefined && stemOf(as) === stemOf(word)) count.right++;
      else if (as !== undefined) count.wrong++;
    }
  }
  const { slips, right, wrong, sameFirst } = count;
  console.log(`slips                            ${slips}`);
  console.log(`  taken for the word, for another, left   ${right}, ${wrong}, ${slips - right - wrong}`);
  console.log(`  same first file as without the slip     ${sameFirst} (${((100 * sameFirst) / slips).toFixed(1)} %)`);
  console.log(`queries without a slip           ${count.queries}, changed ${count.changed}`);
  console.log(`queries about what is not there  ${count.absent}, changed ${count.absentChanged}`);
}
