import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { addRowCheck } from "../../../src/cli/indexing/row-check.ts";
import { PARSER_VERSION } from "../../../src/engines/parsing/version.ts";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import { Segment } from "../../../src/engines/search/segment.ts";
import { type AskOptions, sampleFiles, Sandbox } from "./support/run.ts";

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

const segments = (): string[] => readdirSync(searchFolder()).filter((name) => name.endsWith(".segment"));

/** As if all files were written an hour ago: none of them may change again without a trace. */
const LATER = { aheadMs: 3_600_000 };

/** Paths of the results of a search, by the process of commands or by one of its own. */
async function ask(query: string, cwd = "app", by: AskOptions | "own process" = {}): Promise<string[]> {
  const args = ["search", query, "--json"];
  const { code, json, stderr } = await (by === "own process" ? sandbox.run(cwd, args) : sandbox.ask(cwd, args, by));
  if (code === 4) return [];
  expect(code, stderr).toBe(0);
  return (json["results"] as { path: string }[]).map(({ path }) => path);
}

describe("the local search index", () => {
  it("follows uncommitted edits, new files and removed ones, and writes only what changed", async () => {
    expect((await ask("Holder3"))[0]).toBe("src/module3.ts");
    const [first] = segments();
    sandbox.write("app/src/fresh.ts", "export function zebraCrossing(): number {\n  return 1;\n}\n");
    expect((await ask("zebraCrossing"))[0]).toBe("src/fresh.ts");
    expect(segments()).toContain(first);
    const added = segments().find((name) => name !== first) ?? "";
    expect(statSync(join(searchFolder(), added)).size).toBeLessThan(4_096);
    rmSync(sandbox.path("app/src/fresh.ts"));
    expect(await ask("zebraCrossing")).not.toContain("src/fresh.ts");
    expect(segments()).toEqual([first]);
  });

  it.each(["in git", "outside of git"])("follows edits, %s", async (where) => {
    if (where === "outside of git") rmSync(sandbox.path("app/.git"), { recursive: true });
    for (let i = 0; i < 2; i++) expect((await ask("Holder3"))[0]).toBe("src/module3.ts");
    sandbox.write("app/src/fresh.ts", "export function zebraCrossing(): number {\n  return 1;\n}\n");
    for (let i = 0; i < 2; i++) expect((await ask("zebraCrossing"))[0]).toBe("src/fresh.ts");
    rmSync(sandbox.path("app/src/fresh.ts"));
    // Also an error is of the tree as it is.
    const gone = await sandbox.ask("app", ["symbol", "zebraCrossing"]);
    expect(gone).toMatchObject({ code: 4, stdout: "" });
  });

  it("makes segments of another version again, with the uses of the files, which no row holds", async () => {
    await ask("Holder3");
    const usesOf = async (name: string): Promise<number[]> => {
      const bytes = readFileSync(join(searchFolder(), name));
      const read = (offset: number, length: number) => bytes.subarray(offset, offset + length);
      const segment = await Segment.open({ size: bytes.length, read });
      const records = await segment.readUses([...Array(segment.contentCount).keys()]);
      return records.map(({ length }) => length);
    };
    const [first = ""] = segments();
    const before = await usesOf(first);
    expect(before.some((length) => length > 0)).toBe(true);
    const bytes = readFileSync(join(searchFolder(), first));
    bytes.writeUInt32LE(3, 4);
    writeFileSync(join(searchFolder(), first), bytes);
    expect((await ask("Holder3"))[0]).toBe("src/module3.ts");
    expect(await usesOf(segments()[0] ?? "")).toEqual(before);
  });

  it("takes nothing from segments that another version of the parser has filled", async () => {
    expect((await ask("Holder3"))[0]).toBe("src/module3.ts");
    const folder = searchFolder();
    const store = new DatabaseSync(join(folder, "../index.sqlite"));
    addRowCheck(store);
    const contents = store.prepare("select lower(hex(sha256)) as sha256, language from contents").all() as {
      sha256: string;
      language: string;
    }[];
    store.exec("update contents set parser_version = parser_version - 1000");
    store.close();
    const line = { startLine: 1, endLine: 1 };
    const symbols = [{ kind: "function", name: "stale", qualifiedName: "stale", parent: null, doc: null, ...line }];
    // More chunks than the new segment has: of two that hold a content the larger one is taken.
    const chunks = Array.from({ length: 9 }, () => ({ text: "stale", withheld: false, ...line }));
    const stale = buildSegment(contents.map((content) => analyzeContent({ ...content, chunks, symbols })));
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, "00.segment"), stale);
    writeFileSync(join(folder, "p1012-00.segment"), stale);
    expect((await sandbox.ask("app", ["symbol", "stale"])).code).toBe(4);
    expect((await ask("Holder3"))[0]).toBe("src/module3.ts");
    expect(segments().every((name) => name.startsWith(`p${PARSER_VERSION}-`))).toBe(true);
  });

  it("needs no git outside of git", async () => {
    rmSync(sandbox.path("app/.git"), { recursive: true });
    for (let i = 0; i < 2; i++) {
      const { code, json } = await sandbox.ask("app", ["search", "Holder3", "--json"], {
        env: { PATH: sandbox.path() },
      });
      expect(code).toBe(0);
      expect((json["results"] as object[])[0]).toMatchObject({ path: "src/module3.ts" });
    }
  });

  it("is shared by the work trees of a repository, each with its own files", async () => {
    await ask("Holder3");
    const before = segments();
    sandbox.git("app", "worktree", "add", "-q", "-b", "other", sandbox.path("tree"));
    sandbox.write("tree/src/module3.ts", "export const giraffeNeck = 3;\n");
    expect((await ask("giraffeNeck", "tree"))[0]).toBe("src/module3.ts");
    expect((await ask("Holder3"))[0]).toBe("src/module3.ts");
    expect(await ask("giraffeNeck")).toEqual([]);
    expect(segments()).toHaveLength(before.length + 1);
  });

  it("answers for another branch without touching the work tree, and reads its files from git", async () => {
    sandbox.git("app", "checkout", "-q", "-b", "feature");
    sandbox.write("app/src/walrus.ts", "export function walrusTusk(): number {\n  return 2;\n}\n");
    const commit = sandbox.commit("app");
    sandbox.git("app", "checkout", "-q", "main");
    expect(await ask("walrusTusk")).toEqual([]);
    const { code, json, stderr } = await sandbox.ask("app", ["search", "walrusTusk", "--ref", "feature", "--json"]);
    expect(code, stderr).toBe(0);
    expect(json["gitSha"]).toBe(commit);
    expect(json["results"]).toMatchObject([{ path: "src/walrus.ts", symbol: { name: "walrusTusk" } }]);
    expect(await ask("walrusTusk")).toEqual([]);
    expect(existsSync(sandbox.path("app/src/walrus.ts"))).toBe(false);
    const unknown = await sandbox.ask("app", ["search", "walrusTusk", "--ref", "nosuch"]);
    expect(unknown.code).not.toBe(0);
    expect(unknown.stderr).toContain("nosuch");
  });

  it("answers as before after its files were damaged, cut off, removed or left half-written", async () => {
    const right = await ask("double5 Holder5", "app", LATER);
    const damage: ((file: string) => void)[] = [
      (file) => {
        const bytes = readFileSync(file);
        for (let at = 20; at < bytes.length; at += 97) bytes[at] = (bytes[at] ?? 0) ^ 0x40;
        writeFileSync(file, bytes);
      },
      (file) => writeFileSync(file, readFileSync(file).subarray(0, 100)),
      (file) => writeFileSync(file, ""),
      (file) => rmSync(file),
      (file) => writeFileSync(`${file}.tmp`, "half"),
    ];
    const fileOf = (suffix: string, prefix = ""): string => {
      const name = readdirSync(searchFolder()).find((file) => file.endsWith(suffix) && file.startsWith(prefix));
      return join(searchFolder(), name ?? expect.fail(`no ${suffix}`));
    };
    const askCommit = async () => {
      const { code, json, stderr } = await sandbox.ask("app", ["search", "Holder5", "--ref", "HEAD", "--json"]);
      expect(code, stderr).toBe(0);
      return json["results"];
    };
    for (const harm of damage) {
      harm(fileOf(".state"));
      expect(await ask("double5 Holder5", "app", LATER)).toEqual(right);
    }
    for (const harm of damage)
      for (const suffix of [".segment", ".table"]) {
        harm(fileOf(suffix));
        expect(await ask("double5 Holder5")).toEqual(right);
      }
    const rightOfCommit = await askCommit();
    for (const harm of damage)
      for (const suffix of [".segment", ".table"]) {
        harm(fileOf(suffix, suffix === ".table" ? "commit" : ""));
        expect(await askCommit()).toEqual(rightOfCommit);
      }
    sandbox.write("app/src/more.ts", "export const one = 1;\n");
    await ask("one");
    expect(readdirSync(searchFolder()).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("is right after a kill at any moment of a build, and with two processes at once", async () => {
    const right = ["src/module5.ts"];
    for (const delayMs of [150, 300, 450, 600, 800]) {
      rmSync(sandbox.path("cache"), { recursive: true, force: true });
      await sandbox.run("app", ["search", "Holder5", "--json"], {
        onStart: (child) => setTimeout(() => child.kill("SIGKILL"), delayMs),
      });
      const both = await Promise.all([1, 2].map(() => ask("Holder5", "app", "own process")));
      for (const found of both) expect(found.slice(0, 1)).toEqual(right);
    }
    expect(existsSync(searchFolder())).toBe(true);
  });

  it("is right after a kill before any change that a merge makes on disk", async () => {
    const edit = (name: string, modules: readonly number[]): void => {
      for (const i of modules) sandbox.write(`app/src/module${i}.ts`, `export const ${name}${i} = ${i};\n`);
    };
    const hook = `--import ${new URL("./support/kill-at.ts", import.meta.url).href}`;
    /** Searches over a copy of the cache as it was before the merge. */
    const merge = async (copy: string, env: Record<string, string>) => {
      cpSync(sandbox.path("cache"), sandbox.path(copy), { recursive: true });
      const cache = { XDG_CACHE_HOME: sandbox.path(copy) };
      const run = await sandbox.run("app", ["search", QUERY, "--json"], {
        env: { ...cache, NODE_OPTIONS: hook, ...env },
      });
      return { run, again: () => sandbox.ask("app", ["search", QUERY, "--json"], { env: cache }) };
    };
    const QUERY = "Holder7 walrus2 zebra0 giraffe4";
    await ask(QUERY);
    edit("zebra", [0, 1, 2]);
    await ask(QUERY);
    // Of both segments less than half is left, so the next search merges them.
    edit("walrus", [1, 2]);
    edit("giraffe", [3, 4, 5, 6]);
    const log = sandbox.path("changes.log");
    const { run: undisturbed } = await merge("undisturbed", { CHANGES_LOG: log });
    expect(undisturbed.code).toBe(0);
    const changes = readFileSync(log, "utf8").trim().split("\n");
    // One new segment and one merged, then the table, what they replace, and the state.
    expect(changes.filter((change) => change === "rename .segment")).toHaveLength(2);
    expect(changes.filter((change) => change === "remove .segment")).toHaveLength(2);
    await Promise.all(
      changes.map(async (_, i) => {
        const { run, again } = await merge(`killed-${i}`, { KILL_AT: String(i + 1) });
        expect(run.code).toBeNull();
        const { json } = await again();
        expect(json["results"]).toEqual(undisturbed.json["results"]);
        expect(json["digest"]).toEqual(undisturbed.json["digest"]);
      }),
    );
  });
});

describe("the search index of a pulled snapshot", () => {
  /** Another machine, with an index of its own. */
  const elsewhere = (): { env: Record<string, string> } => ({ env: { XDG_CACHE_HOME: sandbox.path("elsewhere") } });
  const publish = async (): Promise<void> => {
    expect((await sandbox.ask("app", ["publish", "--json"], elsewhere())).code).toBe(0);
  };
  const pull = async (): Promise<void> => {
    expect((await sandbox.ask("clone", ["pull", "--json"], LATER)).code).toBe(0);
  };
  const files = (): string[] =>
    readdirSync(searchFolder())
      .filter((name) => /\.(?:segment|table)$/.test(name))
      .sort();

  it("is searched as it comes, gives the answers of one built here, and is updated by edits and the next pull", async () => {
    await publish();
    sandbox.clone("app", "clone");
    await pull();
    const pulled = files();
    expect(pulled).toHaveLength(2);
    for (const query of ["double7", "how is a value doubled", "Holder3"]) {
      const { json } = await sandbox.ask("clone", ["search", query, "--json"]);
      const built = await sandbox.ask("app", ["search", query, "--json"], elsewhere());
      expect(built.json["results"]).not.toEqual([]);
      expect(json["results"]).toEqual(built.json["results"]);
    }
    expect(files()).toEqual(pulled);
    sandbox.write("clone/src/module3.ts", "export const giraffeNeck = 3;\n");
    expect((await ask("giraffeNeck", "clone"))[0]).toBe("src/module3.ts");
    // The pulled commit is still answered for, with lines that only the artifact has.
    const { json } = await sandbox.ask("clone", ["search", "Holder3", "--ref", "HEAD", "--json"]);
    const [best] = json["results"] as object[];
    expect(best).toMatchObject({ path: "src/module3.ts", excerpts: [{ text: expect.stringContaining("Holder3") }] });
    // The next snapshot comes over an older one, and over a segment made here.
    sandbox.write("app/src/module0.ts", "export const walrusTusk = 1;\n");
    sandbox.commit("app");
    await publish();
    sandbox.git("clone", "pull", "-q", sandbox.path("app"));
    await pull();
    const after = files();
    expect((await ask("walrusTusk", "clone", LATER))[0]).toBe("src/module0.ts");
    expect((await ask("giraffeNeck", "clone", LATER))[0]).toBe("src/module3.ts");
    expect((await ask("double7", "clone", LATER))[0]).toBe("src/module7.ts");
    expect(files()).toEqual(after);
  });

  it.each([
    ["is damaged", (bytes: Buffer, at: number) => bytes.fill(0, at + 40, at + 60)],
    ["is of another version", (bytes: Buffer) => bytes.write('"segmentVersion":9', bytes.indexOf('"segmentVersion":'))],
  ])("is built here where the one in the artifact %s", async (_, spoil) => {
    await publish();
    sandbox.clone("app", "clone");
    const stored = sandbox.service.snapshots.get("github.com/acme/app")!;
    const bytes = Buffer.from(sandbox.service.objects.get(stored.storagePath)!);
    const start = /"segments":\[\{"start":(\d+)/.exec(bytes.toString("latin1"))?.[1] ?? expect.fail("no segment");
    spoil(bytes, Number(start));
    sandbox.service.objects.set(stored.storagePath, bytes);
    const checksum = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    sandbox.service.snapshots.set("github.com/acme/app", { ...stored, manifest: { ...stored.manifest, checksum } });
    await pull();
    expect((await ask("double7", "clone"))[0]).toBe("src/module7.ts");
  });
});
