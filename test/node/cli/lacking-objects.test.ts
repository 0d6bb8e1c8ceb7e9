/** A clone that lacks objects of a commit, or has damaged ones: its answers say what was not searched. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { seededNumbers } from "../../support/numbers.ts";
import { Sandbox } from "./support/run.ts";

vi.setConfig({ testTimeout: 600_000 });

/** `GIT_FAULTS=500` takes some minutes. */
const FAULTS = Number(process.env["GIT_FAULTS"] ?? 6);

let sandbox: Sandbox;
let objects: string;
const FILES = {
  "lib/pool.ts": "export function openPool(): void {}\n",
  "lib/deep/lease.ts": "export function renewLease(): void {\n  openPool();\n}\n",
  "main.ts": 'import { renewLease } from "./lib/deep/lease.ts";\nrenewLease();\n',
};
beforeAll(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("app", FILES);
  objects = sandbox.path("app/.git/objects");
});
afterAll(() => sandbox.remove());

const fileOf = (name: string): string => {
  const oid = sandbox.git("app", "rev-parse", name);
  return join(objects, oid.slice(0, 2), oid.slice(2));
};

/** Asks with a new, empty cache, or with the given one. */
const ask = (args: readonly string[], cache = `cache-${Math.random()}`) =>
  sandbox.ask("app", [...args, "--ref", "HEAD"], {
    env: { XDG_CACHE_HOME: sandbox.path(cache), CODECTX_API_KEY: undefined },
  });

const GAPS = ["lib/deep/", "lib/pool.ts"].map((path) => ({ path, reason: "unreadable" }));

it("answers from the other files, and is complete when the objects are there again", async () => {
  const cache = "cache";
  const lost = ["HEAD:lib/pool.ts", "HEAD:lib/deep"].map((name) => {
    const file = fileOf(name);
    const bytes = readFileSync(file);
    rmSync(file);
    return { file, bytes };
  });
  const incomplete = { complete: false, gaps: expect.arrayContaining(GAPS) as unknown };
  const grep = await ask(["grep", "renewLease", "--json"], cache);
  expect(grep).toMatchObject({
    code: 0,
    json: { ...incomplete, total: { lines: 2 }, coverage: { notSearched: { unreadable: 2 } } },
  });
  const text = await ask(["grep", "openPool"], cache);
  expect(text).toMatchObject({ code: 2, stdout: "" });
  expect(text.stderr).toMatch(
    /no match in 1 file; not complete: lib\/pool\.ts \(unreadable\), lib\/deep\/ \(unreadable\) not searched/,
  );
  const search = await ask(["search", "renew lease", "--json"], cache);
  expect(search).toMatchObject({ code: 0, json: { ...incomplete, results: [{ path: "main.ts" }] } });
  for (const question of [
    ["symbol", "openPool"],
    ["callers", "renewLease"],
    ["outline", "lib/pool.ts"],
  ]) {
    const answer = await ask([...question, "--json"], cache);
    expect(answer).toMatchObject({ code: 9, json: { code: "INCOMPLETE", details: { complete: false } } });
  }
  // A snapshot must be whole.
  const published = await sandbox.ask("app", ["publish", "--json"]);
  expect(published).toMatchObject({ code: 2, json: { code: "GIT_FAILED" } });
  for (const { file, bytes } of lost) writeFileSync(file, bytes);
  expect((await ask(["search", "open pool", "--json"], cache)).json).not.toHaveProperty("complete");
  expect((await ask(["callers", "renewLease", "--json"], cache)).code).toBe(0);
});

it("says nothing of a damaged clone that a whole one does not say", async () => {
  const next = seededNumbers(7);
  const loose = ["HEAD^{tree}", "HEAD:lib", "HEAD:lib/deep", ...Object.keys(FILES).map((path) => `HEAD:${path}`)].map(
    fileOf,
  );
  const whole = await ask(["grep", "renewLease|openPool", "--json"]);
  expect(whole.json).toMatchObject({ complete: true });
  const places = (json: Record<string, unknown>) =>
    (json["matches"] as { path: string; line: number }[]).map(({ path, line }) => `${path}:${line}`);
  for (let i = 0; i < FAULTS; i++) {
    const file = loose[next(loose.length)] as string;
    const bytes = readFileSync(file);
    rmSync(file);
    const how = next(3);
    const at = next(bytes.length);
    if (how === 1) writeFileSync(file, bytes.subarray(0, at));
    if (how === 2) writeFileSync(file, bytes.with(at, (bytes[at] ?? 0) ^ (1 << next(8))));
    const { code, json } = await ask(["grep", "renewLease|openPool", "--json"]);
    const what = `${file} ${how} ${at}`;
    expect([0, 2], what).toContain(code);
    if (json["complete"] === true) expect(places(json), what).toEqual(places(whole.json));
    else expect(places(whole.json), what).toEqual(expect.arrayContaining(places(json)));
    const search = await ask(["search", "renew lease", "--json"]);
    if (search.code !== 0) expect(search, what).toMatchObject({ json: { code: "INCOMPLETE" } });
    rmSync(file, { force: true });
    writeFileSync(file, bytes);
  }
});

it("passes over objects of a pack at which git stops", async () => {
  sandbox.git("app", "repack", "-adq");
  const folder = join(objects, "pack");
  const name = readdirSync(folder).find((each) => each.endsWith(".pack")) ?? "";
  const pack = join(folder, name);
  expect(existsSync(pack), dirname(pack)).toBe(true);
  const listed = sandbox.git("app", "verify-pack", "-v", pack.replace(/pack$/, "idx"));
  const oid = sandbox.git("app", "rev-parse", "HEAD:lib/pool.ts");
  const offset = Number(
    listed
      .split("\n")
      .find((line) => line.startsWith(oid))
      ?.split(/\s+/)[4],
  );
  const bytes = readFileSync(pack);
  rmSync(pack);
  writeFileSync(pack, bytes.fill(0xff, offset + 4, offset + 12));
  const { code, json } = await ask(["grep", "renewLease|openPool", "--json"]);
  expect(code).toBe(0);
  expect(json).toMatchObject({
    complete: false,
    gaps: [{ path: "lib/pool.ts", reason: "unreadable" }],
    total: { lines: 4 },
  });
});
