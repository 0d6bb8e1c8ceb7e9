/** Damage of what is kept on this machine: no answer says less than is there. */
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { seededNumbers } from "../../support/numbers.ts";
import { sampleFiles, Sandbox } from "./support/run.ts";

vi.setConfig({ testTimeout: 3_600_000 });

/** `LOCAL_FAULTS=1000` takes two minutes. */
const FAULTS = Number(process.env["LOCAL_FAULTS"] ?? 40);

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("app", {
    ...sampleFiles(8),
    "src/use.ts": 'import { double3 } from "./module3.ts";\nexport const six = (): number => double3(3);\n',
    "notes.unknown": "double3 is documented here\n",
  });
});
afterAll(() => sandbox.remove());

/** Each answers from other files of the cache. */
const QUESTIONS: readonly (readonly string[])[] = [
  ["grep", "double3"],
  ["grep", String.raw`double\d\(value`, "--json"],
  ["grep", "double3", "--ref", "HEAD"],
  ["search", "doubles 3", "--json"],
  ["search", "doubles 3", "--ref", "HEAD", "--json"],
  ["callers", "double3", "--json"],
  ["importers", "src/module3.ts", "--json"],
  ["symbol", "Holder3", "--json"],
  ["coverage", "--json"],
];

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .sort();
}

/** Removes a file, cuts it off, flips one of its bits, or puts an earlier one of it in its place. */
function damage(file: string, earlier: string, next: (limit: number) => number): string {
  const bytes = readFileSync(file);
  const how = next(4);
  if (how === 0) rmSync(file);
  else if (how === 1) writeFileSync(file, bytes.subarray(0, next(bytes.length + 1)));
  else if (how === 2 && bytes.length > 0) {
    const at = next(bytes.length);
    writeFileSync(file, bytes.with(at, (bytes[at] ?? 0) ^ (1 << next(8))));
  } else if (statSync(earlier, { throwIfNoEntry: false })) cpSync(earlier, file);
  return ["removed", "cut", "flipped", "earlier"][how] ?? "";
}

it("any question is answered as before after any file was removed, cut off, changed or put back", async () => {
  const ask = async (question: readonly string[], cache: string) => {
    const env = { XDG_CACHE_HOME: sandbox.path(cache) };
    const { code, stdout } = await sandbox.ask("app", question, { env, aheadMs: 3_600_000 });
    return { code, told: stdout.replaceAll(/"indexedAt": ?"[^"]*"/g, "") };
  };
  const askAll = async () => {
    const answers = [];
    for (const question of QUESTIONS) answers.push(await ask(question, "whole"));
    return answers;
  };
  await askAll();
  cpSync(sandbox.path("whole"), sandbox.path("earlier"), { recursive: true });
  // An edit, so that there are files of changes too.
  sandbox.write("app/src/more.ts", 'import { double3 } from "./module3.ts";\nexport const more = double3(1);\n');
  const truth = await askAll();
  expect(truth.map(({ code }) => code)).toEqual(QUESTIONS.map(() => 0));
  const whole = sandbox.path("whole");
  const names = filesOf(whole).map((file) => file.slice(whole.length));
  const next = seededNumbers(Number(process.env["LOCAL_FAULTS_SEED"] ?? 3));
  for (let round = 0; round < FAULTS; round++) {
    rmSync(sandbox.path("copy"), { recursive: true, force: true });
    cpSync(whole, sandbox.path("copy"), { recursive: true });
    const done = Array.from({ length: 1 + next(2) }, () => {
      const name = names[next(names.length)] ?? "";
      if (!statSync(sandbox.path(`copy${name}`), { throwIfNoEntry: false })) return name;
      return `${name} ${damage(sandbox.path(`copy${name}`), sandbox.path(`earlier${name}`), next)}`;
    });
    const asked = next(QUESTIONS.length);
    const question = QUESTIONS[asked] ?? [];
    expect(await ask(question, "copy"), `${question.join(" ")} with ${done.join(", ")}`).toEqual(truth[asked]);
  }
});
