/**
 * `npm run bench -- work-trees --repo BARE [--count 379]`
 *
 * Many work trees of one repository, each with an edit of its own, behind one `codectx mcp`: how long the first answer of a further one takes
 * (goal: at most 2 s), the server's memory and the room of their cache (goal: 300 MB together). `BARE` is a bare clone. Linux only.
 */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { textOf } from "./agent-tasks/server.ts";
import { gitIn } from "./hosted/team.ts";
import { median, mib, ROOT, temporaryFolder, timed } from "./support.ts";

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { repo: { type: "string" }, count: { type: "string", default: "379" } },
  });
  if (values.repo === undefined) {
    console.error("bench work-trees: give --repo, a bare clone");
    process.exit(2);
  }
  const folder = temporaryFolder("work-trees");
  const main = path.join(folder, "main");
  execFileSync("git", ["-c", "safe.directory=*", "clone", "-q", "--shared", values.repo, main]);
  gitIn(main, "remote", "set-url", "origin", "https://github.com/bench/work-trees.git");
  const trees = Array.from({ length: Number(values.count) }, (_, n) => path.join(folder, `tree${n}`));
  for (const [n, tree] of trees.entries()) {
    gitIn(main, "worktree", "add", "-q", "--detach", tree);
    mkdirSync(path.join(tree, "own"));
    writeFileSync(path.join(tree, "own", "own.js"), `function ownOf${n}() {\n  return ${n};\n}\n`);
  }
  const cache = path.join(folder, "cache");
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_CACHE_HOME: cache };
  const command = {
    command: process.execPath,
    args: [path.join(ROOT, "src/cli/codectx.ts"), "mcp", "--repos", ...trees],
  };
  const transport = new StdioClientTransport({ ...command, cwd: main, env });
  const client = new Client({ name: "bench", version: "1" });
  const start = await timed(() => client.connect(transport));
  const pid = Number(transport.pid);
  const times: number[] = [];
  const cpu: number[] = [];
  let wrong = 0;
  for (const [n, tree] of trees.entries()) {
    const { ms, value } = await timed(() => textOf(client, "find_symbol", { name: `ownOf${n}`, repo: tree }));
    times.push(ms);
    cpu.push(cpuMs(pid));
    if (!value.includes("own/own.js:1")) wrong++;
  }
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const [, peak = "0"] = /^VmHWM:\s+(\d+) kB/m.exec(status) ?? [];
  await client.close();
  const [size = "0"] = execFileSync("du", ["-sb", cache]).toString().split("\t");
  const [first = 0, ...further] = times;
  const cpuEach = ((cpu.at(-1) ?? 0) - (cpu[0] ?? 0)) / further.length;
  console.log(`${trees.length} work trees: start ${start.ms.toFixed(0)} ms, first answer ${first.toFixed(0)} ms`);
  console.log(
    `a further work tree: median ${median(further).toFixed(0)} ms, most ${Math.max(...further).toFixed(0)} ms (goal 2,000); of the server's processors ${cpuEach.toFixed(0)} ms each`,
  );
  console.log(`server's memory at most ${mib(1_024 * Number(peak))}, cache ${mib(Number(size))} (goal 300 together)`);
  console.log(`wrong answers: ${wrong}`);
}

/** A tick of `/proc` in milliseconds. */
const TICK_MS = 10;

/** Time on processors of a process and of the children that it has waited for. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return TICK_MS * fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}
