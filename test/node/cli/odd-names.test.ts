import { mkdirSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Sandbox } from "./support/run.ts";

/** Names that are not plain text, as git quotes them: the hosted index and the local one call them the same. */
const FILES: Readonly<Record<string, string>> = {
  '"\\377.py"': "\xff.py",
  '"\\376.py"': "\xfe.py",
  '"d\\377\\t/in.py"': "d\xff\t/in.py",
  '"new\\nline.py"': "new\nline.py",
};
const PATHS = Object.keys(FILES).sort();

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("app", { "plain.py": "def plain(): pass\n" });
});
afterEach(() => sandbox.remove());

/** Other systems refuse names that are not UTF-8. */
describe.runIf(process.platform === "linux")("files with names that are not plain text", () => {
  /** Writes the files into a folder, each with a definition that has its number. */
  function write(folder: string): void {
    const place = (name: string) =>
      Buffer.concat([Buffer.from(`${sandbox.path(folder)}/`), Buffer.from(name, "latin1")]);
    mkdirSync(place("d\xff\t"), { recursive: true });
    for (const [i, name] of Object.values(FILES).entries()) writeFileSync(place(name), `def odd${i}(): pass\n`);
  }
  const found = async (folder: string, ...args: string[]): Promise<string[]> => {
    const { stdout } = await sandbox.ask(folder, ["grep", "-l", "def odd", ...args]);
    return stdout.trim().split("\n").sort();
  };

  it("are searched, indexed and read like any others, in a work tree, a commit and a plain folder", async () => {
    write("app");
    expect(await found("app")).toEqual(PATHS);
    sandbox.git("app", "add", "-A");
    sandbox.git("app", "commit", "-qm", "odd");
    expect(await found("app")).toEqual(PATHS);
    expect(await found("app", "--ref", "HEAD")).toEqual(PATHS);
    write("plain");
    expect(await found("plain")).toEqual(PATHS);

    for (const [i, path] of Object.keys(FILES).entries()) {
      expect((await sandbox.ask("app", ["read", path])).stdout).toBe(`def odd${i}(): pass\n`);
      for (const ref of [[], ["--ref", "HEAD"]]) {
        const { json } = await sandbox.ask("app", ["symbol", `odd${i}`, "--json", ...ref]);
        expect(json["symbols"]).toMatchObject([{ path }]);
      }
    }
    // As a shell completes it.
    expect((await sandbox.ask("app", ["read", "new\nline.py"])).stdout).toBe("def odd3(): pass\n");
  });

  it("are seen when they are new and when they change, and are part of what has changed", async () => {
    expect(await found("app")).toEqual([""]);
    write("app");
    expect(await found("app")).toEqual(PATHS);
    const impact = await sandbox.ask("app", ["impact", "--json"]);
    expect((impact.json["changed"] as { path: string }[]).map(({ path }) => path).sort()).toEqual(PATHS);
    writeFileSync(sandbox.path("app/new\nline.py"), "def later(): pass\n");
    const { json } = await sandbox.ask("app", ["symbol", "later", "--json"]);
    expect(json["symbols"]).toMatchObject([{ path: '"new\\nline.py"' }]);
  });
});
