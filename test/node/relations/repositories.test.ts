import { describe, expect, it } from "vitest";
import { detectLanguage } from "../../../src/engines/parsing/detect.ts";
import type { QuestionFiles } from "../../../src/engines/relations/question-files.ts";
import { Repositories } from "../../../src/engines/relations/repositories.ts";
import { UsesIndex } from "../../../src/engines/relations/uses-index.ts";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { openIndex } from "../../../src/engines/search/search-index.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import { CalleesFinder } from "../../../src/interface/questions/relations/callees.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { placeIn } from "../../../src/engines/relations/marked-paths.ts";
import type { FoundUse } from "../../../src/interface/questions/relations/found.ts";
import { ImplementationsFinder } from "../../../src/interface/questions/relations/implementations.ts";
import { importersOf } from "../../../src/interface/questions/relations/importers.ts";
import { usesOfOutside } from "../../../src/interface/questions/relations/outside.ts";
import { sharedParser } from "../parsing/support.ts";
import { buildTable } from "../../../src/engines/search/table.ts";
import { inMemory } from "../../../src/engines/search/bytes.ts";
import { revisionFile, segmentOf, sha256, type TestFile, textsOf } from "../retrieval/support.ts";

type Repository = { identity?: string; files: Readonly<Record<string, string>> };

/** Repositories as one scope; `at` gives what a question to one of them reads. */
async function scopeOf(repositories: readonly Repository[]) {
  const parser = await sharedParser();
  const analyses = new Map<string, Uint8Array>();
  const all: TestFile[][] = [];
  for (const { files } of repositories) {
    const own: TestFile[] = [];
    for (const [path, text] of Object.entries(files)) {
      const language = detectLanguage(path, Buffer.from(text));
      if (language === undefined) continue;
      const parsed = await parser.parse({ bytes: Buffer.from(text), language });
      own.push({ path, text, language, symbols: parsed.symbols });
      analyses.set(`${sha256(text)} ${language}`, analyzeContent({ sha256: sha256(text), language, ...parsed }));
    }
    all.push(own);
  }
  const segment = await segmentOf(buildSegment([...analyses.values()]));
  const sources = all.map((files) => ({
    table: inMemory(buildTable(files.map(revisionFile), [segment]).table),
    segment: () => inMemory(segment.bytes),
  }));
  const index = await openIndex(sources);
  const texts = textsOf(all.flat());
  const identities = repositories.map(({ identity }) => identity ?? null);
  return {
    async at(revision: number): Promise<{ files: QuestionFiles; home: UsesIndex; revision: number }> {
      const home = new UsesIndex(await openIndex(sources.slice(revision, revision + 1)), texts);
      const files = new Repositories({ index, texts, home, revision, identities });
      return { files, home, revision };
    },
  };
}

type Asked = Awaited<ReturnType<Awaited<ReturnType<typeof scopeOf>>["at"]>>;

const shown = ({ revision }: Asked, uses: readonly FoundUse[]): string[] =>
  uses.map(({ path, line, certainty, target }) => {
    const [own, of] = [placeIn(revision, path), target && placeIn(revision, target.path)];
    return `${own.revision}/${own.path}:${line} ${certainty}${of ? ` → ${of.revision}/${of.path}:${target?.line}` : ""}`;
  });

async function callersOf(asked: Asked, name: string, depth = 1): Promise<string[]> {
  return shown(asked, await new UsesFinder(asked.files, "callers").find(await asked.home.definitions(name), depth));
}

async function calleesOf(asked: Asked, name: string): Promise<string[]> {
  const definitions = await asked.home.described(await asked.home.definitions(name));
  return shown(asked, await new CalleesFinder(asked.files).find(definitions, 1));
}

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);

const LIB = {
  files: {
    "package.json": json({ name: "@acme/lib", exports: { ".": "./src/index.ts", "./inner/*": "./src/inner/*.ts" } }),
    "src/index.ts": 'export { send } from "./send.ts";\nexport class Client {\n  open(): void {}\n}\n',
    "src/send.ts": "export function send(): void {}\n",
    "src/inner/tool.ts": "export function hammer(): void {}\n",
    "src/use.ts": 'import { send } from "./send.ts";\nsend();\n',
  },
};

const APP = {
  files: {
    "package.json": json({ name: "app", dependencies: { "@acme/lib": "1" } }),
    "a.ts":
      'import { send as post, Client } from "@acme/lib";\nexport function run() {\n  post();\n  new Client().open();\n}\n',
    "b.ts": 'import { hammer } from "@acme/lib/inner/tool";\nhammer();\n',
    "c.ts": 'import { send } from "other";\nsend();\nlet x: any;\nx.open();\n',
    "d.ts": 'import "@acme/lib";\nlet x: any;\nx.open();\n',
    "e.ts": 'import { run } from "./a.ts";\nfunction main() {\n  run();\n}\n',
  },
};

describe("TypeScript over repositories", () => {
  it("leads from imports of a package to its definitions, and back", async () => {
    const scope = await scopeOf([APP, LIB]);
    const lib = await scope.at(1);
    expect(await callersOf(lib, "send")).toEqual([
      "1/src/use.ts:2 certain → 1/src/send.ts:1",
      "0/a.ts:3 certain → 1/src/send.ts:1",
    ]);
    expect(await callersOf(lib, "hammer")).toEqual(["0/b.ts:2 certain → 1/src/inner/tool.ts:1"]);
    // By name alone only where the file imports the package.
    expect(await callersOf(lib, "open")).toEqual(["0/a.ts:4 certain → 1/src/index.ts:3", "0/d.ts:3 name"]);
    expect(await callersOf(await scope.at(1), "send", 2)).toContain("0/e.ts:3 certain → 0/a.ts:2");
    expect(await calleesOf(await scope.at(0), "run")).toEqual([
      "0/a.ts:3 certain → 1/src/send.ts:1",
      "0/a.ts:4 certain → 1/src/index.ts:3",
      "0/a.ts:4 certain → 1/src/index.ts:2",
    ]);
    const importers = await importersOf((await scope.at(1)).files, "src/index.ts");
    expect(shown(lib, importers)).toEqual(["0/a.ts:1 certain", "0/d.ts:1 certain"]);
  });

  it("says which mention a package, and reads only files that do", async () => {
    const scope = await scopeOf([
      { files: { "a.ts": "export const a = 1;\n" } },
      { files: { "b.ts": 'import { x } from "@acme/tools";\n', "other.ts": 'import { y } from "./b.ts";\n' } },
      { files: { "c.ts": 'import t from "@acme/tools/deep";\n', "d.ts": "// acme tools\n" } },
    ]);
    const { files } = await scope.at(0);
    expect(await files.revisionsMentioning("tools")).toEqual([2, 1]);
    const { home } = await scope.at(1);
    const read: string[] = [];
    const uses = home.uses.bind(home);
    home.uses = (path) => (read.push(path), uses(path));
    expect((await importersOf(home, "@acme/tools")).map(({ path }) => path)).toEqual(["b.ts"]);
    expect(read).toEqual(["b.ts"]);
  });

  it("finds classes that inherit from one of a package", async () => {
    const app = {
      files: { "a.ts": 'import { Client } from "@acme/lib";\nclass Mine extends Client {\n  open() {}\n}\n' },
    };
    const lib = await (await scopeOf([LIB, app])).at(0);
    const finder = new ImplementationsFinder(lib.files);
    expect(shown(lib, await finder.find(await lib.home.definitions("Client"), 1))).toEqual([
      "1/a.ts:2 certain → 0/src/index.ts:2",
    ]);
  });

  it("depends on the files alone, not on the order of the repositories", async () => {
    const both = [(await scopeOf([APP, LIB])).at(1), (await scopeOf([LIB, APP])).at(0)];
    const [one, other] = await Promise.all(both.map(async (at) => callersOf(await at, "send")));
    expect(one?.map((line) => line.replaceAll(/\d\//g, ""))).toEqual(
      other?.map((line) => line.replaceAll(/\d\//g, "")),
    );
  });

  it("is likely where two repositories have the package, and follows none of them from elsewhere", async () => {
    const fork = { files: { ...LIB.files, "src/send.ts": "\nexport function send(): void {}\n" } };
    const scope = await scopeOf([APP, LIB, fork]);
    expect(await callersOf(await scope.at(1), "send")).toContain("0/a.ts:3 likely → 1/src/send.ts:1");
    expect(await callersOf(await scope.at(2), "send")).toContain("0/a.ts:3 likely → 2/src/send.ts:2");
    expect(await calleesOf(await scope.at(0), "run")).toEqual([]);
  });

  it("prefers packages of the own repository", async () => {
    const files = {
      ...APP.files,
      "lib/package.json": LIB.files["package.json"],
      "lib/src/index.ts": "export function send() {}\n",
    };
    const scope = await scopeOf([{ files }, LIB]);
    expect(await callersOf(await scope.at(1), "send")).toEqual(["1/src/use.ts:2 certain → 1/src/send.ts:1"]);
    expect(await calleesOf(await scope.at(0), "run")).toContain("0/a.ts:3 certain → 0/lib/src/index.ts:1");
  });

  it("takes no package from tests and examples, nor from a manifest that cannot be read", async () => {
    const fixture = {
      files: {
        "test/fixtures/lib/package.json": LIB.files["package.json"],
        "test/fixtures/lib/src/index.ts": "export function send() {}\n",
      },
    };
    const broken = {
      files: { "package.json": '{ "name": ', "src/index.ts": "export function send() {}\n" },
    };
    const scope = await scopeOf([APP, LIB, fixture, broken, { files: { "package.json": "[".repeat(50_000) } }]);
    expect(await callersOf(await scope.at(1), "send")).toContain("0/a.ts:3 certain → 1/src/send.ts:1");
  });
});

describe("other languages over repositories", () => {
  it("Go: an import begins with the repository or the path that go.mod states", async () => {
    const lib = {
      identity: "github.com/acme/lib",
      files: {
        "go.mod": "module github.com/acme/lib/v2\n",
        "lib.go":
          "package lib\n\ntype Client struct{}\n\nfunc (c *Client) Open() {}\n\nfunc New() *Client { return nil }\n",
        "util/util.go": "package util\n\nfunc Pad() {}\n",
      },
    };
    const vanity = { files: { "go.mod": 'module "acme.dev/vanity"\n', "v.go": "package vanity\n\nfunc Vain() {}\n" } };
    const app = {
      identity: "github.com/acme/app",
      files: {
        "go.mod": "module github.com/acme/app\n",
        "main.go":
          'package main\n\nimport (\n\t"acme.dev/vanity"\n\t"github.com/acme/lib/v2"\n\t"github.com/acme/lib/v2/util"\n)\n\n' +
          "func main() {\n\tlib.New().Open()\n\tutil.Pad()\n\tvanity.Vain()\n}\n",
        // The folder of the own repository has the same path as the package's.
        "util/util.go": "package util\n\nfunc Pad() {}\n",
      },
    };
    // What its own packages return leads on.
    const user = {
      files: {
        "go.mod": "module github.com/acme/user\n",
        "inner/inner.go":
          'package inner\n\nimport "github.com/acme/lib/v2"\n\nfunc Make() *lib.Client { return lib.New() }\n',
        "main.go": 'package main\n\nimport "github.com/acme/user/inner"\n\nfunc main() {\n\tinner.Make().Open()\n}\n',
      },
    };
    const withUser = await scopeOf([user, lib]);
    expect(await callersOf(await withUser.at(1), "Open")).toEqual(["0/main.go:6 certain → 1/lib.go:5"]);
    const scope = await scopeOf([app, lib, vanity]);
    expect(await callersOf(await scope.at(1), "Open")).toEqual(["0/main.go:10 certain → 1/lib.go:5"]);
    expect(await callersOf(await scope.at(1), "New")).toEqual(["0/main.go:10 certain → 1/lib.go:7"]);
    expect(await callersOf(await scope.at(1), "Pad")).toEqual(["0/main.go:11 certain → 1/util/util.go:3"]);
    expect(await callersOf(await scope.at(2), "Vain")).toEqual(["0/main.go:12 certain → 2/v.go:3"]);
    expect(await callersOf(await scope.at(0), "Pad")).toEqual([]);
  });

  it("Python: a package with the name of its project", async () => {
    const lib = {
      files: {
        "pyproject.toml": '[project]\nname = "acme-lib"\n',
        "src/acme_lib/__init__.py": "from .client import Client\n",
        "src/acme_lib/client.py": "class Client:\n    def send(self):\n        pass\n",
        "tests/helper.py": "def check():\n    pass\n",
      },
    };
    const other = {
      files: { "pyproject.toml": '[tool.poetry]\nname = "thing"\n', "stuff/__init__.py": "def go():\n    pass\n" },
    };
    const app = {
      files: {
        "app.py":
          "from acme_lib import Client\nimport acme_lib.client as inner\nimport stuff\n\ndef run():\n    Client().send()\n    inner.Client()\n    stuff.go()\n",
        "more.py": "from tests.helper import check\ncheck()\n",
      },
    };
    const scope = await scopeOf([app, lib, other]);
    expect(await callersOf(await scope.at(1), "send")).toEqual(["0/app.py:6 certain → 1/src/acme_lib/client.py:2"]);
    expect(await callersOf(await scope.at(1), "Client")).toEqual([
      "0/app.py:6 certain → 1/src/acme_lib/client.py:1",
      "0/app.py:7 certain → 1/src/acme_lib/client.py:1",
    ]);
    // The package has another name than its project.
    expect(await callersOf(await scope.at(2), "go")).toEqual(["0/app.py:8 likely → 2/stuff/__init__.py:1"]);
    expect(await callersOf(await scope.at(1), "check")).toEqual([]);
  });

  it("Rust: a crate by the name of its manifest", async () => {
    const lib = {
      files: {
        "Cargo.toml": '[workspace]\nmembers = ["core"]\n',
        "core/Cargo.toml": '[package]\nname = "acme-core"\nversion = "1.0.0"\n',
        "core/src/lib.rs": "pub mod net;\npub use net::Client;\n",
        "core/src/net.rs":
          "pub struct Client;\n\nimpl Client {\n    pub fn send(&self) {}\n}\n\npub fn connect() -> Client {\n    Client\n}\n",
      },
    };
    const app = {
      files: {
        "Cargo.toml": '[package]\nname = "app"\n',
        "src/main.rs":
          "use acme_core::Client;\nuse acme_core::net::connect;\n\nfn run(c: Client) {\n    c.send();\n}\n\nfn main() {\n    run(connect());\n}\n",
      },
    };
    const scope = await scopeOf([app, lib]);
    expect(await callersOf(await scope.at(1), "send")).toEqual(["0/src/main.rs:5 certain → 1/core/src/net.rs:4"]);
    expect(await callersOf(await scope.at(1), "connect")).toEqual(["0/src/main.rs:9 certain → 1/core/src/net.rs:7"]);
  });

  it("Java and Kotlin: by packages; certain where a pom states the dependency", async () => {
    const pom = (artifact: string, dependency = "") =>
      `<project>\n  <parent><groupId>com.acme</groupId><artifactId>parent</artifactId></parent>\n  <artifactId>${artifact}</artifactId>\n` +
      `  <dependencies>${dependency}</dependencies>\n</project>\n`;
    const onLib = "<dependency><groupId>${project.groupId}</groupId><artifactId>lib</artifactId></dependency>";
    const lib = {
      files: {
        "pom.xml": pom("lib"),
        "src/main/java/com/acme/lib/Client.java":
          "package com.acme.lib;\n\npublic class Client {\n    public void send() {}\n}\n",
      },
    };
    const source =
      "package com.acme.app;\n\nimport com.acme.lib.Client;\n\nclass App {\n    void run() {\n        new Client().send();\n    }\n}\n";
    const app = { files: { "pom.xml": pom("app", onLib), "src/main/java/com/acme/app/App.java": source } };
    const gradle = { files: { "app/App.java": source } };
    const kotlin = {
      files: { "App.kt": "package app\n\nimport com.acme.lib.Client\n\nfun run() {\n    Client().send()\n}\n" },
    };
    const scope = await scopeOf([app, lib, gradle, kotlin]);
    const place = "→ 1/src/main/java/com/acme/lib/Client.java:4";
    expect(await callersOf(await scope.at(1), "send")).toEqual([
      `0/src/main/java/com/acme/app/App.java:7 certain ${place}`,
      `2/app/App.java:7 likely ${place}`,
      `3/App.kt:6 likely ${place}`,
    ]);
  });

  it("C, C++, PHP, C# and Ruby: the files of a repository are a program of their own", async () => {
    const lib = {
      files: { "a.c": "void send(void) {}\n", "a.rb": "def send_it\nend\n", "a.php": "<?php\nfunction go() {}\n" },
    };
    const app = { files: { "b.c": "void run(void) { send(); }\n", "b.rb": "send_it\n", "b.php": "<?php\ngo();\n" } };
    const scope = await scopeOf([lib, app]);
    for (const name of ["send", "send_it", "go"]) expect(await callersOf(await scope.at(0), name), name).toEqual([]);
  });
});

describe("many packages", () => {
  it("are read up to a limit", async () => {
    const files: Record<string, string> = { ...LIB.files };
    for (let i = 0; i < 3_000; i++) files[`packages/p${i}/package.json`] = json({ name: `p${i}` });
    const lib = await (await scopeOf([{ files }, APP])).at(0);
    expect(await callersOf(lib, "send")).toContain("1/a.ts:3 certain → 0/src/send.ts:1");
  });
});

it("uses of a name that only packages define are those of each repository that mentions it", async () => {
  const text = 'import { load } from "lib";\nload();\n';
  const scope = await scopeOf([{ files: { "a.ts": text } }, { files: { "b.ts": "" } }, { files: { "c.ts": text } }]);
  const asked = await scope.at(0);
  expect((await asked.files.revisionsMentioning("load")).toSorted((a, b) => a - b)).toEqual([0, 2]);
  const found = await usesOfOutside(asked.files, "load", { relation: "callers", depth: 1 });
  expect(shown(asked, found.uses)).toEqual(["0/a.ts:2 certain"]);
});
