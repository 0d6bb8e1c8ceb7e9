import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { seededIntegers } from "../../support/numbers.ts";
import { sampleFiles, Sandbox } from "./support/run.ts";

vi.setConfig({ testTimeout: 120_000 });

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("app", sampleFiles(8));
});
afterEach(() => sandbox.remove());

function searchFolder(): string {
  const repos = sandbox.path("cache/codectx/repos");
  return join(repos, readdirSync(repos)[0] ?? "", "search");
}

/** Searches as if all files were written an hour ago: none of them may change again without a trace. */
async function search(query: string, cache = "cache"): Promise<{ paths: string[]; digest: unknown }> {
  const { json, stderr } = await sandbox.ask("app", ["search", query, "--json"], {
    env: { XDG_CACHE_HOME: sandbox.path(cache) },
    aheadMs: 3_600_000,
  });
  const results = json["results"] as { path: string }[] | undefined;
  return { paths: results?.map(({ path }) => path) ?? expect.fail(stderr), digest: json["digest"] };
}

function manyFiles(): void {
  for (let i = 0; i < 100; i++) sandbox.write(`app/many/${i % 50}/f${i}.py`, "one = 1\n");
  sandbox.git("app", "add", "-A");
  sandbox.git("app", "commit", "-qm", "many");
}

describe("the search index of many files", () => {
  it("has after any edits what a fresh index has, and looks at no other files for it", async () => {
    const random = seededIntegers(11);
    manyFiles();
    await search("Holder3");
    const state = () =>
      readFileSync(join(searchFolder(), readdirSync(searchFolder()).find((name) => name.endsWith(".state")) ?? ""));
    const before = state();
    const file = (): string => {
      const i = random(9);
      return `many/${i}/${["f", "g"][random(2)]}${i}.${["py", "h", "c", "png"][random(4)]}`;
    };
    const edits: Record<string, (path: string) => void> = {
      edit: (path) => sandbox.write(`app/${path}`, `word${random(100)} = ${random(100)}\n`),
      remove: (path) => rmSync(sandbox.path(`app/${path}`), { force: true }),
      rename: (path) => {
        const listed = sandbox.git("app", "ls-files", "-co", "--exclude-standard", "--deduplicate").split("\n");
        const from = listed
          .filter((name) => existsSync(sandbox.path(`app/${name}`)) && name.startsWith("many/"))
          .at(random(99));
        if (from === undefined || existsSync(sandbox.path(`app/${path}`))) return;
        edits["edit"]?.(path);
        cpSync(sandbox.path(`app/${from}`), sandbox.path(`app/${path}`));
        rmSync(sandbox.path(`app/${from}`));
      },
      binary: (path) => sandbox.write(`app/${path}`, "\0\0"),
      // A file in place of a folder, and the reverse.
      replace: (path) => {
        const folder = sandbox.path(`app/many/${path.replaceAll(/\D/g, "").slice(0, 1)}`);
        const isFolder = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
        rmSync(folder, { recursive: true, force: true });
        if (isFolder) writeFileSync(folder, "#!/usr/bin/env python3\nword1 = 1\n");
      },
      stage: () => sandbox.git("app", "add", "-A"),
      // The files are still there, and no longer listed.
      ignore: () => {
        sandbox.write("app/.gitignore", ["", "many/1*\n", "*.h\n", "many/2/\n"][random(4)] as string);
        sandbox.git("app", "rm", "-rq", "--cached", "--ignore-unmatch", "many/1", "many/2", "many/*.h");
      },
      commit: () => sandbox.git("app", "commit", "-qam", "more", "--allow-empty"),
    };
    for (let round = 0; round < 12; round++) {
      const done = Array.from({ length: 1 + random(4) }, () => {
        const [name = "", edit] = Object.entries(edits)[random(8)] ?? [];
        const path = file();
        edit?.(path);
        return `${name} ${path}`;
      });
      const found = await search("Holder3 word1");
      const fresh = await search("Holder3 word1", `fresh${round}`);
      expect(found, done.join(", ")).toEqual(fresh);
    }
    expect(state()).toEqual(before);
  });

  it("follows edits with what they changed", async () => {
    manyFiles();
    expect((await search("Holder3")).paths[0]).toBe("src/module3.ts");
    const named = (suffix: string) =>
      join(searchFolder(), readdirSync(searchFolder()).find((name) => name.endsWith(suffix)) ?? expect.fail(suffix));
    const state = readFileSync(named(".state"));
    sandbox.write("app/many/1/f1.py", "def zebra_crossing():\n    return 1\n");
    for (let i = 0; i < 2; i++) expect((await search("zebra_crossing")).paths).toEqual(["many/1/f1.py"]);
    expect(readFileSync(named(".state"))).toEqual(state);
    const changes = readFileSync(named(".state-changes"));
    // Nothing has changed, so nothing is written.
    await search("zebra_crossing");
    expect(readFileSync(named(".state-changes"))).toEqual(changes);
    sandbox.write("app/many/2/f2.py", "def walrus_crossing():\n    return 1\n");
    rmSync(sandbox.path("app/many/3/f3.py"));
    expect((await search("walrus_crossing")).paths[0]).toBe("many/2/f2.py");
    expect((await search("zebra_crossing")).paths[0]).toBe("many/1/f1.py");
    sandbox.git("app", "checkout", "--", "many/1/f1.py");
    expect((await search("zebra_crossing")).paths).not.toContain("many/1/f1.py");
    expect(readFileSync(named(".state"))).toEqual(state);
    const damaged = readFileSync(named(".state-changes"));
    writeFileSync(named(".state-changes"), damaged.fill(0, 40, 60));
    sandbox.write("app/many/4/f4.py", "def giraffe_crossing():\n    return 1\n");
    expect((await search("giraffe_crossing")).paths[0]).toBe("many/4/f4.py");
    // What is ignored is a question to all files.
    sandbox.write("app/.codectxignore", "many/2\n");
    expect((await search("walrus_crossing")).paths).not.toContain("many/2/f2.py");
    sandbox.write("app/.codectxignore", "many/5\n");
    const last = await search("walrus_crossing");
    expect(last.paths[0]).toBe("many/2/f2.py");
    expect((await search("walrus_crossing", "fresh")).digest).toBe(last.digest);
  });

  it("takes back a file that was there before without looking at the rows of others", async () => {
    manyFiles();
    await search("Holder3");
    const zebra = "def zebra_crossing():\n    return 1\n";
    sandbox.write("app/many/1/new.py", zebra);
    const { digest } = await search("zebra_crossing");
    rmSync(sandbox.path("app/many/1/new.py"));
    expect((await search("Holder3")).digest).not.toBe(digest);
    const db = new DatabaseSync(join(searchFolder(), "../index.sqlite"));
    // Who reads this row finds it damaged.
    db.function("row_check", { varargs: true, deterministic: true }, () => 1);
    db.exec("update contents set language = language where language = 'typescript'");
    db.close();
    sandbox.write("app/many/1/new.py", zebra);
    const { json, stderr } = await sandbox.ask("app", ["search", "zebra_crossing", "--json"], { aheadMs: 3_600_000 });
    expect(stderr).not.toContain("damaged");
    expect(json).toMatchObject({ digest, results: [{ path: "many/1/new.py" }] });
  });

  it("looks again only at files that have just changed, or have a time ahead of the clock", async () => {
    manyFiles();
    await search("Holder3");
    const named = (suffix: string) => readdirSync(searchFolder()).filter((name) => name.endsWith(suffix));
    const stateNow = () => readFileSync(join(searchFolder(), named(".state")[0] ?? ""));
    const state = stateNow();
    // By the clock as it is, the file may change once more at the same time.
    const searchNow = async (word: string): Promise<unknown> => {
      const { json } = await sandbox.ask("app", ["search", word, "--json"]);
      return (json["results"] as { path: string }[]).map(({ path }) => path);
    };
    for (const word of ["zebra_crossing", "horse_crossing", "mouse_crossing"]) {
      sandbox.write("app/many/1/f1.py", `def ${word}():\n    return 1\n`);
      expect(await searchNow(word)).toEqual(["many/1/f1.py"]);
    }
    await search("mouse_crossing");
    expect(stateNow()).toEqual(state);
    const ahead = new Date(Date.now() + 100 * 3_600_000);
    utimesSync(sandbox.path("app/many/2/f2.py"), ahead, ahead);
    await search("mouse_crossing");
    const table = named(".table");
    expect((await search("mouse_crossing")).paths).toEqual(["many/1/f1.py"]);
    expect(named(".table")).toEqual(table);
    expect(stateNow()).toEqual(state);
  });
});
