/**
 * `npm run bench -- lines make --mirrors DIR --out FILE [--avoid OWNER/NAME,…] [--limit N]`
 * `npm run bench -- lines --set FILE --mirrors DIR [--half dev|untouched] [--budgets 1000,4000] [--cache DIR] [--limit N]`
 *
 * Which lines an answer shows, on commits: a commit's message is the query, the lines that it changed are the answer, and the
 * question is asked of an earlier commit that still has these lines. `make` writes such a set from bare clones; the
 * messages are other people's texts and the labels are noisy, so sets are kept outside of this repository.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { casesOf, type LineCase, mirrorsIn } from "./lines/make.ts";
import { measureLines } from "./lines/measure.ts";

const CASES_PER_REPOSITORY = 24;

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      mirrors: { type: "string" },
      out: { type: "string" },
      avoid: { type: "string", default: "" },
      set: { type: "string" },
      half: { type: "string" },
      budgets: { type: "string", default: "1000,4000" },
      cache: { type: "string" },
      limit: { type: "string" },
    },
  });
  const { mirrors, out, set } = values;
  if (mirrors === undefined || (positionals[0] === "make" ? out : set) === undefined) {
    console.error("give --mirrors DIR, and --out FILE to make a set or --set FILE to measure with one");
    process.exit(2);
  }
  const limit = values.limit === undefined ? undefined : Number(values.limit);
  if (positionals[0] === "make") {
    const avoid = new Set(values.avoid.toLowerCase().split(","));
    const cases: LineCase[] = [];
    for (const { name, folder } of mirrorsIn(mirrors)) {
      if (avoid.has(name.toLowerCase())) continue;
      const own = casesOf(name, folder, limit ?? CASES_PER_REPOSITORY);
      console.log(`${name}: ${own.length} cases`);
      cases.push(...own);
    }
    writeFileSync(out as string, JSON.stringify(cases));
    return;
  }
  const cases = JSON.parse(readFileSync(set as string, "utf8")) as LineCase[];
  await measureLines(cases, mirrors, {
    half: values.half,
    budgets: values.budgets.split(",").map(Number),
    cache: values.cache,
    limit,
  });
}
