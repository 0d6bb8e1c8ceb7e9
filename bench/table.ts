/**
 * `npm run bench -- table mine --mirrors DIR --out FILE [--avoid OWNER/NAME,…] [--known FILE]`
 *
 * Makes the pairs that the term table of the builtin models is trained on, from bare clones; `python3 bench/table/train.py` trains it.
 * `--known` is a JSON object whose keys are functions that a benchmark asks for: pairs with one of their first lines are left out.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { mirrorsIn } from "./lines/make.ts";
import { minePairs, signatureOf } from "./table/mine.ts";

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      mirrors: { type: "string" },
      out: { type: "string" },
      avoid: { type: "string", default: "" },
      known: { type: "string" },
    },
  });
  const { mirrors, out, known } = values;
  if (positionals[0] !== "mine" || mirrors === undefined || out === undefined) {
    console.error("usage: npm run bench -- table mine --mirrors DIR --out FILE [--avoid OWNER/NAME,…] [--known FILE]");
    process.exit(2);
  }
  const avoid = new Set(values.avoid.toLowerCase().split(","));
  const repositories = mirrorsIn(mirrors).filter(({ name }) => !avoid.has(name.toLowerCase()));
  const functions = known === undefined ? [] : Object.keys(JSON.parse(readFileSync(known, "utf8")) as object);
  const signatures = functions.flatMap((code) => code.split("\n").slice(0, 1).map(signatureOf));
  await minePairs(repositories, out, new Set(signatures));
}
