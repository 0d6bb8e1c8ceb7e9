/** Incremental indexing: after each of several commits the index has what a fresh one has, whatever is asked. */
import { cpSync, rmSync } from "node:fs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Sandbox } from "./support/run.ts";

vi.setConfig({ testTimeout: 120_000 });

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("app", FILES);
});
afterEach(() => sandbox.remove());

const FILES = {
  "package.json": '{ "name": "app", "imports": { "#lib/*": "./src/*" } }\n',
  "tsconfig.json": '{ "compilerOptions": { "paths": { "@lib/*": ["./src/*"] } } }\n',
  "src/store.ts":
    "export interface Closer {\n  close(): void;\n}\nexport class Store implements Closer {\n  close(): void {}\n}\nexport function load(): Store {\n  return new Store();\n}\n",
  "src/index.ts": 'export { load as start } from "./store.ts";\nexport * from "./store.ts";\n',
  "src/app.ts":
    'import { start, type Closer } from "@lib/index";\nexport function main(closer: Closer): void {\n  start().close();\n  closer.close();\n}\n',
  "src/cli.ts": 'import { main } from "./app.ts";\nimport { load } from "#lib/store.ts";\nmain(load());\n',
  "test/app.test.ts": 'import { main } from "../src/app.ts";\nit("closes", () => main({ close() {} }));\n',
  "go.mod": "module example.com/app\n\ngo 1.22\n",
  "pkg/log/log.go": 'package log\n\nfunc Load(name string) string {\n\treturn name + "log"\n}\n',
  "cmd/main.go": 'package main\n\nimport "example.com/app/pkg/log"\n\nfunc main() {\n\tlog.Load("a")\n}\n',
  "py/app/__init__.py": "from .store import load\n",
  "py/app/store.py": "class Base:\n    def close(self):\n        pass\n\n\ndef load():\n    return Base()\n",
  "py/main.py": "from app import load\n\n\ndef main():\n    load().close()\n",
};

/** What a commit does in the folder `app`. */
type Change = Record<string, string> | (() => void);

const move = (from: string, to: string) => (): void => {
  cpSync(sandbox.path("app", from), sandbox.path("app", to));
  rmSync(sandbox.path("app", from));
};

const CHANGES: readonly Change[] = [
  move("src/store.ts", "src/stores.ts"),
  {
    "src/index.ts": 'export { load as start } from "./stores.ts";\nexport * from "./closer.ts";\n',
    "src/closer.ts": "export interface Closer {\n  close(): void;\n}\n",
    "src/stores.ts":
      'import type { Closer } from "./closer.ts";\nexport class Store implements Closer {\n  close(): void {}\n}\nexport function load(): Store {\n  return new Store();\n}\n',
  },
  // Changes what imports lead to; the importing files stay as they are.
  {
    "tsconfig.json": '{ "compilerOptions": { "paths": { "@lib/*": ["./lib/*"] } } }\n',
    "package.json": '{ "name": "app", "imports": { "#lib/*": "./lib/*" } }\n',
    "go.mod": "module example.com/other\n\ngo 1.22\n",
  },
  {
    "lib/index.ts":
      'export { load as start } from "../src/stores.ts";\nexport type { Closer } from "../src/closer.ts";\n',
    "lib/store.ts": "export class Store {\n  close(): void {}\n}\nexport const load = (): Store => new Store();\n",
    "go.mod": "module example.com/app\n\ngo 1.22\n",
  },
  () => rmSync(sandbox.path("app/py/app/__init__.py")),
  {
    "py/app/__init__.py": "from .base import load\n",
    "py/app/base.py":
      "from .store import Base\n\n\nclass File(Base):\n    def close(self):\n        pass\n\n\ndef load():\n    return File()\n",
  },
  // The same texts at other places, and a text that two files share.
  () => {
    move("src/closer.ts", "src/old-closer.ts")();
    move("src/old-closer.ts", "src/closer.ts")();
    cpSync(sandbox.path("app/src/stores.ts"), sandbox.path("app/src/store.ts"));
    rmSync(sandbox.path("app/cmd/main.go"));
  },
  () => sandbox.git("app", "checkout", "-q", "HEAD~6", "--", "src", "tsconfig.json"),
];

const QUESTIONS: readonly (readonly string[])[] = [
  ["search", "close the store"],
  ["symbol", "load"],
  ["refs", "Store"],
  ["callers", "load"],
  ["callers", "close", "--depth", "2"],
  ["callees", "main"],
  ["implementations", "Closer"],
  ["importers", "src/app.ts"],
  ["importers", "pkg/log/log.go"],
  ["path", "main", "close"],
  ["impact", "load"],
  ["impact", "HEAD~1..HEAD"],
  ["definition", "src/app.ts:3"],
  ["outline", "src/stores.ts"],
  ["grep", "load|close"],
  ["coverage"],
];

/** Documents and exits. The clock is ahead, so that no file may change again without a trace. */
async function answers(cache: string): Promise<unknown[]> {
  const env = { XDG_CACHE_HOME: sandbox.path(cache) };
  const all: unknown[] = [];
  for (const question of QUESTIONS) {
    const { code, stdout, stderr } = await sandbox.ask("app", [...question, "--json"], { env, aheadMs: 3_600_000 });
    const told = `${stdout}${stderr}`.replaceAll(/"indexedAt": ?"[^"]*"/g, "");
    all.push([question.join(" "), code, told]);
  }
  return all;
}

it("an index that follows commits answers every question as a fresh one does", async () => {
  let before = await answers("cache");
  for (const [i, change] of CHANGES.entries()) {
    if (typeof change === "function") change();
    else for (const [path, text] of Object.entries(change)) sandbox.write(`app/${path}`, text);
    sandbox.commit("app", `change ${i}`);
    const followed = await answers("cache");
    expect(followed, `after change ${i}`).toEqual(await answers(`fresh${i}`));
    // Without a difference the change would test nothing.
    expect(followed).not.toEqual(before);
    before = followed;
  }
});
