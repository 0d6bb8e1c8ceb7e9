/**
 * `npm run bench -- <name> [options]`: benchmarks print ratios against a reference measured in the same run. Peers are
 * installed once with `npm install --prefix bench/peers`; without them the rows that need one are left out, and it says so.
 */
const BENCHES = [
  "index",
  "gateway",
  "snapshot",
  "cli",
  "retrieval",
  "symbols",
  "isolate-memory",
  "dashboard",
  "search",
  "hosted",
  "faces",
  "scale",
  "fairness",
  "kills",
  "sweeps",
  "grep",
  "lines",
  "table",
  "relations",
  "impact",
  "words",
  "agent-tasks",
  "guidance",
  "overlays",
  "work-trees",
  "incremental",
] as const;

const [name = "", ...args] = process.argv.slice(2);
if (!(BENCHES as readonly string[]).includes(name)) {
  console.error(`usage: npm run bench -- <${BENCHES.join("|")}> [options]`);
  process.exit(2);
}
const bench = (await import(`./${name}.ts`)) as { run(args: string[]): Promise<unknown> };
await bench.run(args);

export {};
