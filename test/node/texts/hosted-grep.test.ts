import { sql } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { ApiError } from "../../../src/lib/errors.ts";
import { CoverageQuery, FilesQuery, GrepRequest } from "../../../src/contract/exact.ts";
import { FileQuery } from "../../../src/contract/search.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import type { SearchDeps } from "../../../src/service/hosted-index/core.ts";
import { repairTexts } from "../../../src/service/hosted-index/whole-texts/repair.ts";
import { coverage, file, files, grep } from "../../support/ask-hosted.ts";
import { seededNumbers } from "../../support/numbers.ts";
import type { MemoryBucket } from "../../support/pipeline.ts";
import { git, givenRepository, newPipeline, pipeline, repo } from "../../support/given-repository.ts";

givenRepository({ isShared: true });

const SECRET = ["AKIA", "2E0A8F3B244C9986"].join("");

const deps = (): SearchDeps => ({
  db: pipeline.db,
  bucket: pipeline.searchBucket,
  cache: new SearchCache(),
  regexModule,
  repair: async (revision) =>
    void (await repairTexts({ db: pipeline.db, bucket: pipeline.searchBucket, beat: async () => {} }, revision)),
});
const ask = (request: Record<string, unknown>, using = deps()) =>
  grep(using, pipeline.tenantId, GrepRequest.parse({ workspaceId: pipeline.workspaceId, ...request }));
const places = ({ matches }: Awaited<ReturnType<typeof ask>>) => matches.map(({ path, line }) => `${path}:${line}`);

/** Searches with damaged objects. `GREP_FAULTS=1000` takes six seconds. */
const FAULTS = Number(process.env["GREP_FAULTS"] ?? 100);

/** Removes an object, cuts it off, or flips one of its bits. */
function damage({ objects }: MemoryBucket, key: string, next: (limit: number) => number): void {
  const object = objects.get(key);
  const how = next(3);
  if (!object || how === 0) {
    objects.delete(key);
    return;
  }
  const bytes = object.bytes.slice(0, how === 1 ? next(object.bytes.length + 1) : undefined);
  const at = next(Math.max(1, bytes.length));
  if (how === 2 && bytes.length > 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << next(8));
  objects.set(key, { ...object, bytes });
}

const lineOf = ({ path, line, text }: { path: string; line: number; text: string }): string =>
  `${path}:${line}:${text}`;

describe("exact search of a hosted workspace", () => {
  it("finds every line, also in what is not ranked, and says that there is no other", async () => {
    repo
      .files({
        "src/a.ts": "export function closeSession() {\n  return 1;\n}\n",
        "src/b.ts": 'import { closeSession } from "./a.ts";\r\ncloseSession();',
        "vendor/c.js": "closeSession();\n",
        "package-lock.json": '{ "closeSession": 1 }\n',
        "test/a.test.ts": "closeSession();\n",
        "odd.xyz": "nothing\n",
        "image.png": Buffer.from([0, 1, 2]),
      })
      .commit();
    await pipeline.run({ url: git.url("repo") });
    const literal = await ask({ pattern: "closeSession" });
    expect(places(literal).toSorted()).toEqual(
      ["src/a.ts:1", "src/b.ts:1", "src/b.ts:2", "test/a.test.ts:1", "vendor/c.js:1", "package-lock.json:1"].toSorted(),
    );
    expect(places(literal).slice(0, 3)).toEqual(["src/a.ts:1", "src/b.ts:1", "src/b.ts:2"]);
    expect(literal).toMatchObject({
      total: { lines: 6, files: 5 },
      complete: true,
      coverage: { files: 6, notSearched: { binary: 1 }, withheldLines: 0 },
      indexes: [{ workspaceId: pipeline.workspaceId, gitSha: repo.head() }],
    });
    expect(literal.matches[0]).toMatchObject({ ranges: [[17, 29]], enclosing: "closeSession" });
    expect(places(await ask({ pattern: "^close\\w+\\(\\);?$", paths: ["src/**"] }))).toEqual(["src/b.ts:2"]);
    expect(await ask({ pattern: "nowhere" })).toMatchObject({ matches: [], total: { lines: 0 }, complete: true });
    await expect(ask({ pattern: "(" })).rejects.toMatchObject({ code: "INVALID_BODY" });
  });

  it("lists files and says why some are not searched", async () => {
    const { tenantId, workspaceId } = pipeline;
    const all = await coverage(deps(), tenantId, CoverageQuery.parse({ workspaceId }));
    expect(all).toMatchObject({ indexed: 3, searchedOnly: 3, notSearched: { binary: 1 } });
    expect(await coverage(deps(), tenantId, CoverageQuery.parse({ workspaceId, path: "vendor/c.js" }))).toMatchObject({
      path: { state: "searched", reason: "vendored" },
    });
    const listed = await files(deps(), tenantId, FilesQuery.parse({ workspaceId, depth: "1" }));
    expect(listed.folders).toEqual([
      { path: "src/", files: 2 },
      { path: "test/", files: 1 },
      { path: "vendor/", files: 1 },
    ]);
    const vendored = await file(deps(), tenantId, FileQuery.parse({ workspaceId, path: "vendor/c.js" }));
    expect(vendored.text).toBe("closeSession();");
  });

  it("never says that there are no more lines when an object is missing, cut or changed", async () => {
    const patterns = [{ pattern: "closeSession" }, { pattern: "close\\w+;?" }, { pattern: "e", paths: ["src/**"] }];
    const truth = await Promise.all(patterns.map(async (pattern) => (await ask(pattern)).matches.map(lineOf)));
    const { objects } = pipeline.searchBucket;
    const next = seededNumbers(1);
    // A repair would leave its traces in the database.
    const unrepaired = (): SearchDeps => ({ ...deps(), repair: async () => {} });
    const outcomes = { complete: 0, incomplete: 0, refused: 0 };
    for (let round = 0; round < FAULTS; round++) {
      const whole = new Map(objects);
      const damaged = Array.from({ length: 1 + next(3) }, () => [...whole.keys()][next(whole.size)] ?? "");
      for (const key of damaged) damage(pipeline.searchBucket, key, next);
      const asked = next(patterns.length);
      const answer = await ask(patterns[asked] ?? {}, unrepaired()).catch((error: unknown) => error as Error);
      const saw = `${JSON.stringify(patterns[asked])} with ${damaged.join(", ")}`;
      if (answer instanceof Error) {
        // The index is written again; the client is told when to come back.
        expect(answer, saw).toBeInstanceOf(ApiError);
        outcomes.refused++;
      } else {
        const found = answer.matches.map(lineOf);
        expect(truth[asked], saw).toEqual(expect.arrayContaining(found));
        if (answer.complete) expect(found, saw).toEqual(truth[asked]);
        outcomes[answer.complete ? "complete" : "incomplete"]++;
      }
      objects.clear();
      for (const [key, value] of whole) objects.set(key, value);
    }
    // Without damage that is noticed, this would test nothing.
    expect(outcomes.complete + outcomes.incomplete).toBeGreaterThan(0);
    expect(outcomes.incomplete + outcomes.refused).toBeGreaterThan(0);
  });

  it("answers alike whether a withheld line would match or not, and never shows it", async () => {
    repo.files({ "key.ts": `const id = 1;\nconst key = "${SECRET}";\n` }).commit();
    await pipeline.run({ url: git.url("repo") });
    const hit = await ask({ pattern: SECRET.slice(0, 12), fixedStrings: true, context: 2 });
    const miss = await ask({ pattern: "BKIA2E0A8F3B", fixedStrings: true, context: 2 });
    expect(hit).toEqual(miss);
    expect(hit).toMatchObject({ matches: [], complete: false, coverage: { withheldLines: 1 } });
    expect(JSON.stringify(await ask({ pattern: "id", context: 2 }))).not.toContain(SECRET.slice(4));
  });

  it("is incomplete, never empty, where texts are missing", async () => {
    for (const key of pipeline.searchBucket.objects.keys())
      if (key.includes("/packs/")) pipeline.searchBucket.objects.delete(key);
    const using = deps();
    const damaged = await ask({ pattern: "closeSession" }, using);
    expect(damaged).toMatchObject({ complete: false, matches: [] });
    expect(damaged.coverage.notSearched["damaged"]).toBeGreaterThan(0);
    await pipeline.run({ url: git.url("repo") });
    expect(await ask({ pattern: "closeSession" })).toMatchObject({ total: { lines: 6 } });
    await pipeline.db.execute(sql`update revisions set text_list = null where workspace_id = ${pipeline.workspaceId}`);
    expect(await ask({ pattern: "closeSession" })).toMatchObject({
      complete: false,
      coverage: { files: 0, notSearched: { not_stored: 4 } },
    });
  });

  it("pages through all lines with one count, and counts anew when the revision is another", async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, i) => `paged(${i});`).join("\n");
    repo.files({ "src/p.ts": lines(30), "src/q.ts": lines(20), "test/p.ts": lines(5) }).commit();
    await pipeline.run({ url: git.url("repo") });
    const using = deps();
    const filters = vi.spyOn(using.cache.texts, "filters");
    const pages = async (limit: number) => {
      const answers: Awaited<ReturnType<typeof ask>>[] = [];
      for (let offset = 0; answers.at(-1)?.truncated ?? true; offset += limit)
        answers.push(await ask({ pattern: "^paged\\(", limit, offset }, using));
      return answers;
    };
    const whole = await ask({ pattern: "^paged\\(", limit: 1_000 });
    const first = await pages(9);
    expect(filters.mock.calls.length).toBeLessThan(first.length);
    expect(first.flatMap(places)).toEqual(places(whole));
    for (const { total, complete, coverage } of first)
      expect({ total, complete, coverage }).toEqual({
        total: { lines: 55, files: 3 },
        complete: whole.complete,
        coverage: whole.coverage,
      });
    repo.files({ "src/p.ts": lines(31) }).commit();
    await pipeline.run({ url: git.url("repo") });
    expect((await pages(40)).map(({ total }) => total.lines)).toEqual([56, 56]);
  });

  it("tells another tenant nothing", async () => {
    const other = await newPipeline();
    const request = GrepRequest.parse({ pattern: "closeSession", workspaceId: pipeline.workspaceId });
    await expect(grep(deps(), other.tenantId, request)).rejects.toMatchObject({ code: "NO_WORKSPACE" });
  });
});
