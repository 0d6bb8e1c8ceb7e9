/**
 * `npm run bench -- guidance --set FILE --mirrors DIR [--data DIR] [--limit N] [--seeds N]`
 *
 * What an agent spends until it has seen the lines it needs: scripted agents without a model (`guidance/policies.ts`) on the cases of
 * `lines make`, a commit's message as the question and the lines that it changed as the gold. Tokens in the context and tokens that a model
 * would read over all turns, calls, and cases in which half of the gold lines were not seen within 24 calls and 30,000 tokens.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { checkout, connect, textOf } from "./agent-tasks/server.ts";
import {
  grepAndRead,
  hookThenGrep,
  namesThenSearch,
  type Policy,
  searchAndRead,
  searchThenGrep,
} from "./guidance/policies.ts";
import { Session, tokensOf } from "./guidance/session.ts";
import type { LineCase } from "./lines/make.ts";
import { mean } from "./retrieval/metrics.ts";
import { median, temporaryFolder } from "./support.ts";

/** `uses`: the tools of Code Context that the agent has, whose descriptions are in its context. */
const POLICIES: readonly { name: string; policy: Policy; uses: "none" | "all" }[] = [
  { name: "grep and read", policy: grepAndRead, uses: "none" },
  { name: "search and read", policy: searchAndRead({}), uses: "all" },
  { name: "search, 1,000 tokens", policy: searchAndRead({ max_tokens: 1_000 }), uses: "all" },
  { name: "search, 4,000 tokens", policy: searchAndRead({ max_tokens: 4_000 }), uses: "all" },
  { name: "search, limit 5", policy: searchAndRead({ limit: 5 }), uses: "all" },
  { name: "names, then search", policy: namesThenSearch, uses: "all" },
  { name: "search, then grep", policy: searchThenGrep, uses: "all" },
  { name: "hook, then grep", policy: hookThenGrep, uses: "none" },
];

interface Row {
  policy: string;
  session: Session;
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      set: { type: "string" },
      mirrors: { type: "string" },
      data: { type: "string" },
      limit: { type: "string", default: "24" },
      seeds: { type: "string", default: "1" },
    },
  });
  const { set, mirrors } = values;
  if (set === undefined || mirrors === undefined) {
    console.error("give --set FILE (made with `bench -- lines make`) and --mirrors DIR");
    process.exit(2);
  }
  const data = path.resolve(values.data ?? temporaryFolder("guidance"));
  const cases = JSON.parse(readFileSync(set, "utf8")) as LineCase[];
  const rows: Row[] = [];
  for (const [repo, own] of Map.groupBy(cases, (one) => one.repo)) {
    const folder = checkout(mirrors, data, repo, own[0]?.commit ?? "");
    const client = await connect(folder, data);
    const { tools } = await client.listTools();
    const descriptions = tokensOf(
      JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))),
    );
    const answers = new Map<string, Promise<string>>();
    const ask = (tool: string, input: Record<string, unknown>): Promise<string> => {
      const key = `${tool} ${JSON.stringify(input)}`;
      const answer = answers.get(key) ?? textOf(client, tool, input);
      answers.set(key, answer);
      return answer;
    };
    for (const { query, gold } of own.slice(0, Number(values.limit)))
      for (const { name, policy, uses } of POLICIES)
        for (let seed = 1; seed <= Number(values.seeds); seed++) {
          const session = new Session(linesOf(gold), tokensOf(query) + (uses === "all" ? descriptions : 0));
          await policy(query, session, { folder, ask, random: generator(seed) });
          rows.push({ policy: name, session });
        }
    await client.close();
    console.log(
      `${repo}: ${Math.min(own.length, Number(values.limit))} cases (descriptions of tools ${descriptions} tokens)`,
    );
  }
  report(rows);
}

/** Numbers from 0 to 1, the same sequence for each case. */
function generator(seed: number): () => number {
  // Far apart, so that the first numbers are too.
  let state = seed * 16_807;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

function linesOf(gold: LineCase["gold"]): Set<string> {
  const lines = new Set<string>();
  for (const [file, ranges] of Object.entries(gold))
    for (const [from, to] of ranges) for (let line = from; line <= to; line++) lines.add(`${file} ${line}`);
  return lines;
}

/** A miss counts with what was spent until the agent gave up. */
function report(rows: readonly Row[]): void {
  console.log(
    `\n${"".padEnd(22)} missed  calls  in context (median)  read over all turns (median)  in context where first line was seen`,
  );
  for (const [policy, own] of Map.groupBy(rows, (row) => row.policy)) {
    const sessions = own.map(({ session }) => session);
    const missed = mean(sessions.map(({ isFound }) => (isFound ? 0 : 1)));
    const both = (of: (session: Session) => number): string =>
      `${Math.round(mean(sessions.map(of)))} (${Math.round(median(sessions.map(of)))})`;
    const seen = sessions.flatMap(({ first }) => (first === undefined ? [] : [first]));
    console.log(
      [
        policy.padEnd(22),
        `${(100 * missed).toFixed(0)} %`.padStart(6),
        mean(sessions.map(({ calls }) => calls))
          .toFixed(1)
          .padStart(6),
        both(({ resident }) => resident).padStart(20),
        both(({ processed }) => processed).padStart(29),
        `${Math.round(median(seen))} (${seen.length} of ${sessions.length})`.padStart(25),
      ].join(" "),
    );
  }
}
