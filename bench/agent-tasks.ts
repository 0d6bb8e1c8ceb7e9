/**
 * `npm run bench -- agent-tasks --mirrors DIR [--data DIR] [--only WORD] [--show]`
 *
 * Asks `codectx mcp` the tasks of `agent-tasks/tasks.json` over stdio, one call each, with the official client: whether the answer shows the
 * lines that answer the task, or its error names what was meant, and how many tokens it has. `--mirrors` holds bare clones
 * (`<owner>+<name>/repo`), `--data` keeps the checkouts and indexes. `--show` prints the answers that miss.
 */
import path from "node:path";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { placesIn, showsRange } from "./agent-tasks/places.ts";
import { checkout, connect, textOf } from "./agent-tasks/server.ts";
import { median, temporaryFolder } from "./support.ts";

const CHARACTERS_PER_TOKEN = 4;
const MAX_TOKENS = 1_500;

/**
 * What an agent wants to know, the call it would make, and what answers it. The tasks were written from the sources of the commits, by reading
 * and `git grep`, before any answer was looked at.
 */
interface Task {
  task: string;
  tool: string;
  arguments: Record<string, unknown>;
  /** `path:from-to`; each must be shown. Alternatives are separated by a bar; `*` in a path stands for any part of it. */
  shows?: string[];
  /** Texts that the answer or error must hold. */
  says?: string[];
  /** The place that the answer must name first. */
  first?: string;
}

interface Repository {
  repo: string;
  /** The line numbers are those of this commit. */
  commit: string;
  tasks: Task[];
}

const FILE = new URL("agent-tasks/tasks.json", import.meta.url);

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      mirrors: { type: "string" },
      data: { type: "string" },
      only: { type: "string", default: "" },
      show: { type: "boolean", default: false },
    },
  });
  const { mirrors, only } = values;
  if (mirrors === undefined) {
    console.error("give --mirrors DIR, a folder of bare clones <owner>+<name>/repo");
    process.exit(2);
  }
  const data = path.resolve(values.data ?? temporaryFolder("agent-tasks"));
  const tokens: number[] = [];
  let answered = 0;
  for (const { repo, commit, tasks: own } of JSON.parse(readFileSync(FILE, "utf8")) as Repository[]) {
    const tasks = own.filter(({ task, tool }) => `${repo} ${task} ${tool}`.includes(only));
    if (tasks.length === 0) continue;
    const client = await connect(checkout(mirrors, data, repo, commit), data);
    for (const task of tasks) {
      const answer = await textOf(client, task.tool, task.arguments);
      const missing = missingOf(task, answer);
      const size = Math.ceil(answer.length / CHARACTERS_PER_TOKEN);
      tokens.push(size);
      if (missing.length === 0) answered++;
      console.log(
        `${missing.length === 0 ? "yes" : "NO "} ${String(size).padStart(5)}  ${repo}: ${task.task} (${task.tool})`,
      );
      if (missing.length > 0) console.log(`           missing: ${missing.join(", ")}`);
      if (missing.length > 0 && values.show) console.log(answer.replaceAll(/^/gm, "    | "));
    }
    await client.close();
  }
  const mean = tokens.reduce((sum, size) => sum + size, 0) / tokens.length;
  console.log(
    `\n${answered} of ${tokens.length} answered; tokens of an answer: mean ${Math.round(mean)} (goal ≤ ${MAX_TOKENS}), median ${median(tokens)}, most ${Math.max(...tokens)}`,
  );
}

/** What the task wants and the answer lacks. */
function missingOf({ shows = [], says = [], first }: Task, answer: string): string[] {
  const places = placesIn(answer);
  const notShown = shows.filter((wanted) => !wanted.split("|").some((range) => places.some(showsRange(range))));
  const notSaid = says.filter((text) => !answer.includes(text));
  const [firstPlace] = places;
  const isFirst = first === undefined || (firstPlace !== undefined && showsRange(first)(firstPlace));
  return [...notShown, ...notSaid.map((text) => `"${text}"`), ...(isFirst ? [] : [`first ${first}`])];
}
