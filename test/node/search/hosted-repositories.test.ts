import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { ReferencesQuery } from "../../../src/contract/relations.ts";
import type { Caller, Scope } from "../../../src/interface/questions/code-index.ts";
import * as http from "../../../src/interface/questions/http.ts";
import * as questions from "../../../src/interface/questions/questions.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import type { SearchDeps } from "../../../src/service/hosted-index/core.ts";
import { HostedIndex } from "../../../src/service/hosted-index/hosted-index.ts";
import { GitRepo } from "../../support/git-repo.ts";
import { git, givenRepository, newPipeline, pipeline, repo } from "../../support/given-repository.ts";
import type { MemoryBucket, Pipeline } from "../../support/pipeline.ts";

givenRepository({ isShared: true });

const LIB = {
  "package.json": '{ "name": "@acme/lib", "exports": "./src/index.ts" }\n',
  "src/index.ts": 'export { send } from "./send.ts";\n',
  "src/send.ts": "export function send(): void {\n  wire();\n}\nfunction wire(): void {}\n",
};
const APP = {
  "package.json": '{ "name": "app" }\n',
  "src/app.ts": 'import { send } from "@acme/lib";\nexport function main(): void {\n  send();\n}\n',
  "test/app.test.ts": 'import { send } from "@acme/lib";\nexport function testSend(): void {\n  send();\n}\n',
};
const GO_LIB = {
  "go.mod": "module acme.dev/golib\n",
  "pad.go": "package golib\n\nfunc Pad() {}\n",
};
const GO_APP = {
  "go.mod": "module acme.dev/goapp\n",
  "main.go": 'package main\n\nimport "acme.dev/golib"\n\nfunc main() {\n\tgolib.Pad()\n}\n',
};

const places: GitRepo[] = [];

/** Indexes files as a repository of a tenant. */
async function indexed(name: string, files: Record<string, string>, given: Pipeline): Promise<Pipeline> {
  const own = new GitRepo({ root: repo.root, name });
  places.push(own);
  own.files(files).commit("first");
  await given.run({ url: git.url(name) });
  await given.db.execute(
    sql`update workspaces set repo = ${`github.com/acme/${name}`} where id = ${given.workspaceId}::uuid`,
  );
  return given;
}

let bucket: MemoryBucket;
let other: Pipeline;

beforeAll(async () => {
  bucket = pipeline.searchBucket;
  await indexed("lib", LIB, pipeline);
  const own = { tenantId: pipeline.tenantId, searchBucket: bucket };
  await indexed("app", APP, await newPipeline(own));
  await indexed("golib", GO_LIB, await newPipeline(own));
  await indexed("goapp", GO_APP, await newPipeline(own));
  // Another tenant has a user of the library, too, and a library of that name.
  other = await indexed("theirs", APP, await newPipeline({ searchBucket: bucket }));
  await indexed("their-lib", LIB, await newPipeline({ searchBucket: bucket, tenantId: other.tenantId }));
});
afterAll(() => {
  for (const each of places) each[Symbol.dispose]();
});

function indexFor(caller: Partial<Caller> = {}): HostedIndex {
  const deps: SearchDeps = {
    db: pipeline.db,
    bucket,
    cache: new SearchCache(),
    regexModule,
    repair: () => Promise.reject(new Error("nothing is damaged")),
  };
  return new HostedIndex(deps, { tenantId: pipeline.tenantId, ...caller });
}

async function uses(query: Record<string, unknown>, caller?: Partial<Caller>, scope: Scope = {}): Promise<string[]> {
  const request = { ...ReferencesQuery.parse({ repo: "github.com/a/b", ...query }), repo: undefined };
  const answer = http.referencesResponse(await indexFor(caller).ask(questions.references, scope, request));
  return answer.references.map(
    ({ repo: of, path, line, certainty, target }) =>
      `${of?.slice(16)} ${path}:${line} ${certainty} → ${target?.repo?.slice(16) ?? "own"} ${target?.path}:${target?.line}`,
  );
}

describe("relations over the repositories of a tenant", () => {
  it("lead from a library to its users and back", async () => {
    expect(await uses({ relation: "callers", name: "send" })).toEqual([
      "app src/app.ts:3 certain → lib src/send.ts:1",
      "app test/app.test.ts:3 certain → lib src/send.ts:1",
    ]);
    expect(await uses({ relation: "callers", name: "wire", depth: "2" })).toEqual([
      "lib src/send.ts:2 certain → own src/send.ts:4",
      "app src/app.ts:3 certain → lib src/send.ts:1",
      "app test/app.test.ts:3 certain → lib src/send.ts:1",
    ]);
    expect(await uses({ relation: "callees", name: "main", path: "src/app.ts" })).toEqual([
      "app src/app.ts:3 certain → lib src/send.ts:1",
    ]);
    expect(await uses({ relation: "importers", path: "src/index.ts" })).toEqual([
      "app src/app.ts:1 certain → own undefined:undefined",
      "app test/app.test.ts:1 certain → own undefined:undefined",
    ]);
  });

  it("read the path of a module of Go from its go.mod", async () => {
    expect(await uses({ relation: "callers", name: "Pad" })).toEqual(["goapp main.go:6 certain → golib pad.go:3"]);
  });

  it("stay in the repository that is asked, and in those that the caller may read", async () => {
    const caller = { repos: ["github.com/acme/lib", "github.com/acme/golib"] };
    expect(await uses({ relation: "callers", name: "send" }, {}, { repo: "github.com/acme/lib" })).toEqual([]);
    expect(await uses({ relation: "callers", name: "send" }, caller)).toEqual([]);
    expect(await uses({ relation: "callers", name: "Pad" }, caller)).toEqual([]);
    const theirs = await uses({ relation: "callers", name: "send" }, { tenantId: other.tenantId });
    expect(theirs).toEqual([
      "theirs src/app.ts:3 certain → their-lib src/send.ts:1",
      "theirs test/app.test.ts:3 certain → their-lib src/send.ts:1",
    ]);
  });

  it("say what a name means, how a definition reaches another, and what a change concerns", async () => {
    const index = indexFor();
    const means = await index.ask(questions.definition, {}, { path: "src/app.ts", line: 3 });
    expect(http.definitionResponse(means)).toMatchObject({
      definitions: [{ repo: "github.com/acme/lib", path: "src/send.ts", startLine: 1, certainty: "certain" }],
      indexes: [{ repo: "github.com/acme/app" }, { repo: "github.com/acme/lib" }],
    });
    const way = await index.ask(questions.path, {}, { from: "testSend", to: "wire", limit: 5 });
    expect(http.pathResponse(way)).toMatchObject({
      paths: [
        [
          { path: "test/app.test.ts", name: "testSend" },
          { repo: "github.com/acme/lib", path: "src/send.ts", name: "send", certainty: "certain" },
          { repo: "github.com/acme/lib", path: "src/send.ts", name: "wire" },
        ],
      ],
    });
    const impact = await index.ask(questions.impact, {}, { name: "send", depth: 2, limit: 20, maxTokens: 4_000 });
    expect(http.impactResponse(impact)).toMatchObject({
      changed: [{ path: "src/send.ts", symbol: "send" }],
      dependents: [
        { repo: "github.com/acme/app", path: "src/app.ts", line: 3, certainty: "certain" },
        { repo: "github.com/acme/app", path: "test/app.test.ts", line: 3 },
      ],
      tests: [{ repo: "github.com/acme/app", path: "test/app.test.ts", symbol: "testSend" }],
      indexes: [{ repo: "github.com/acme/lib" }, { repo: "github.com/acme/app" }],
    });
  });
});
