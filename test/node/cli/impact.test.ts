import { renameSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Sandbox } from "./support/run.ts";

const FILES = {
  "src/session.ts": "export function close(id: string): string {\n  return id;\n}\n",
  "src/app.ts": 'import { close } from "./session.ts";\n\nexport function stop(): void {\n  close("main");\n}\n',
  "test/session.test.ts": 'import { close } from "../src/session.ts";\n\nclose("a");\n',
  "README.md": "# App\n",
};

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("app", FILES);
  for (const name of ["one", "two"]) {
    sandbox.write("app/src/session.ts", `${FILES["src/session.ts"]}// ${name}\n`);
    sandbox.write("app/README.md", `# App ${name}\n`);
    sandbox.commit("app");
  }
});
afterAll(() => sandbox.remove());

interface Json {
  changed: unknown[];
  files: { path: string; because: string[] }[];
  interfaces: unknown[];
  tests: { path: string }[];
  usuallyTogether: unknown;
}
const impact = async (...args: string[]) => {
  const ran = await sandbox.ask("app", ["impact", ...args, "--json"]);
  return { ...ran, answer: ran.json as unknown as Json };
};

describe("codectx impact", () => {
  it("says that nothing has changed, or that there is no such range", async () => {
    expect(await impact()).toMatchObject({ code: 4, json: { code: "NOTHING_CHANGED" } });
    expect(await impact("HEAD..HEAD")).toMatchObject({ code: 4, json: { code: "NOTHING_CHANGED" } });
    const missing = { code: "NO_COMMIT", error: "no such range of commits in this clone: nowhere..HEAD" };
    expect(await impact("nowhere..HEAD")).toMatchObject({ code: 4, json: missing });
    const name = await impact("close");
    expect(name.json).toMatchObject({ code: "NO_COMMIT", error: expect.stringMatching(/; .* --name close$/) });
    expect(await impact("HEAD~1..HEAD", "--name", "close")).toMatchObject({ code: 2 });
    expect(await impact("--path", "src/sesion.ts")).toMatchObject({ code: 4 });
  });

  it("says that objects are missing, instead of that there is no such range", async () => {
    const oid = sandbox.git("app", "rev-parse", "HEAD~1:src/session.ts");
    const object = sandbox.path("app/.git/objects", oid.slice(0, 2), oid.slice(2));
    renameSync(object, `${object}.away`);
    const lacking = await impact("HEAD~1..HEAD");
    renameSync(`${object}.away`, object);
    expect(lacking).toMatchObject({
      code: 9,
      json: { code: "INCOMPLETE", error: expect.stringMatching(/^git lacks objects of HEAD~1\.\.HEAD, /) },
    });
  });

  it("is about a range of commits, with what usually changed together", async () => {
    const { answer } = await impact("HEAD~1..HEAD");
    expect(answer.changed).toEqual([
      { path: "README.md", symbol: "App two", kind: "heading", line: 1 },
      { path: "src/session.ts", symbol: null, kind: null, line: null },
    ]);
    const { answer: one } = await impact("--path", "src/session.ts");
    expect(one.usuallyTogether).toEqual([{ path: "README.md", times: 2, of: 2 }]);
    expect(one.files.map(({ path }) => path)).toContain("README.md");
  });

  it("is about the uncommitted edits, files that git does not know yet included", async () => {
    const edited = `${FILES["src/session.ts"].replace("id: string", "id: string, force = false")}// two\n`;
    sandbox.write("app/src/session.ts", edited);
    sandbox.write('app/src/"new" ä.ts', 'import { stop } from "./app.ts";\n\nstop();\n');
    const { answer } = await impact();
    expect(answer.changed).toEqual([
      { path: "src/session.ts", symbol: "close", kind: "function", line: 1 },
      { path: 'src/"new" ä.ts', symbol: null, kind: null, line: null },
    ]);
    expect(answer.interfaces).toEqual([{ path: "src/session.ts", symbol: "close", change: "changed" }]);
    expect(answer.tests).toEqual([{ path: "test/session.test.ts", symbol: null, certainty: "certain" }]);
    const app = answer.files.find(({ path }) => path === "src/app.ts");
    expect(app?.because[0]).toBe("calls `close` (certain)");
    const { stdout } = await sandbox.run("app", ["impact"]);
    expect(stdout).toContain("Likely to need a change or a run");
    expect(stdout).toContain("src/app.ts:4  calls `close` (certain)  in stop");
  });

  it("names what still uses a definition that was renamed, and one of a file that was deleted", async () => {
    sandbox.write("app/src/session.ts", FILES["src/session.ts"].replace("function close", "function end"));
    const used = "src/app.ts:4  uses `close`, which is removed (certain)  in stop";
    expect((await sandbox.run("app", ["impact"])).stdout).toContain(used);
    rmSync(sandbox.path("app/src/session.ts"));
    expect((await sandbox.run("app", ["impact"])).stdout).toContain(used);
  });
});
