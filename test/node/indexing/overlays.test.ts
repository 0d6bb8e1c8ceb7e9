import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { FilesQuery } from "../../../src/contract/exact.ts";
import type { Parameters } from "../../../src/contract/questions.ts";
import { FileQuery, SearchRequest, SymbolsQuery } from "../../../src/contract/search.ts";
import type { Question, Scope } from "../../../src/interface/questions/code-index.ts";
import { files as filesQuestion } from "../../../src/interface/questions/exact.ts";
import { file, QUESTIONS, search, symbols } from "../../../src/interface/questions/questions.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import type { SearchDeps } from "../../../src/service/hosted-index/core.ts";
import { HostedIndex } from "../../../src/service/hosted-index/hosted-index.ts";
import { sweepIndex } from "../../../src/service/indexing/sweep.ts";
import { sweepOverlays } from "../../../src/service/overlays/sweep.ts";
import { type Asked, editSet, questionsOf } from "../../support/edit-sets.ts";
import { git, givenRepository, newPipeline, pipeline, repo } from "../../support/given-repository.ts";
import { seededIntegers } from "../../support/numbers.ts";
import type { Embedder } from "../../../src/engines/embedding/index.ts";
import type { Pipeline } from "../../support/pipeline.ts";

givenRepository();

const deps = (own: Pipeline): SearchDeps => ({
  db: own.db,
  bucket: own.searchBucket,
  cache: new SearchCache(),
  regexModule,
  repair: async () => {},
});

function indexOf(own: Pipeline, credentialId = "test"): HostedIndex {
  return new HostedIndex(deps(own), { tenantId: own.tenantId, credentialId });
}

const seqOf = async (own: Pipeline) =>
  (
    await rowsOf<{ seq: number }>(own.db, sql`select current_seq as seq from workspaces where id = ${own.workspaceId}`)
  )[0]!.seq;

const NOUNS = ["session", "invoice", "ledger", "cursor", "header"];
const noun = (n: number) => NOUNS[n % NOUNS.length]!;

/** A file of one of three languages that uses the next one. */
function source(n: number): [path: string, text: string] {
  const [own, next] = [noun(n), noun(n + 1)];
  if (n % 3 === 0)
    return [
      `src/${own}-${n}.ts`,
      `import { open${next} } from "./${next}-${n + 3}.ts";\n\n/** Closes the ${own}. */\nexport function close${own}${n}(value: string): string {\n  return open${next}(value);\n}\n`,
    ];
  if (n % 3 === 1)
    return [
      `lib/${own}_${n}.py`,
      `from .${next}_${n + 3} import open_${next}\n\n\nclass ${own.toUpperCase()}${n}(Base):\n    def close_${own}(self, value):\n        return open_${next}(value)\n`,
    ];
  return [
    `pkg/${own}/${own}${n}.go`,
    `package ${own}\n\n// Close${own}${n} ends it.\nfunc Close${own}${n}(value string) string {\n\treturn open${next}(value)\n}\n`,
  ];
}

const OWN_FIELDS = new Set(["indexes", "digest", "content", "workspaceId"]);

/** An answer as text, errors included, without what names the workspace and the commit. */
async function answerTo(own: Pipeline, scope: Scope, [name, request]: Asked): Promise<string> {
  const question = QUESTIONS[name] as unknown as Question<Parameters, object>;
  const defaults = Object.entries(question.parameters).flatMap(([field, parameter]) =>
    "default" in parameter ? [[field, parameter.default]] : [],
  );
  const asked = { ...(Object.fromEntries(defaults) as object), ...request };
  const answer = await indexOf(own)
    .ask(question, scope, asked as never)
    .catch((error: unknown) => ({ error: String(error) }));
  return JSON.stringify(answer, (key, value: unknown) => (OWN_FIELDS.has(key) ? undefined : value));
}

describe("an overlay", () => {
  it("answers as a fresh index of the edited tree, whatever was edited", async () => {
    const upTo = seededIntegers(32);
    const tree = new Map([...Array.from({ length: 15 }, (_, n) => source(n)), ["assets/logo.bin", "\0"] as const]);
    repo.files(Object.fromEntries(tree)).commit("base");
    await pipeline.run({ url: git.url("repo") });
    const seq = await seqOf(pipeline);
    for (let round = 0; round < 12; round++) {
      const edits = editSet(tree, upTo);
      const overlay = await pipeline.overlay(
        seq,
        [...edits].map(([path, text]) => ({ path, text })),
      );
      const fresh = await newPipeline();
      repo.git("checkout", "-q", "-B", `round${round}`, "main");
      // Deletions first: a file may take the place of a folder.
      for (const [path, text] of [...edits].toSorted(([, a], [, b]) => Number(a !== null) - Number(b !== null))) {
        if (text !== null) repo.write(path, text);
        else if (tree.has(path)) repo.git("rm", "-q", path);
      }
      repo.commit(`round ${round}`);
      await fresh.run({ url: git.url("repo"), ref: `round${round}` });
      // `bench -- overlays` asks all of them, of real repositories.
      for (const asked of questionsOf(tree, edits, upTo).filter((_, i) => i % 3 === round % 3)) {
        const expected = await answerTo(fresh, { workspaceId: fresh.workspaceId }, asked);
        expect(await answerTo(pipeline, { overlay }, asked), `round ${round}: ${JSON.stringify(asked)}`).toBe(expected);
      }
    }
  });

  it("can be on top of a branch beside the main line, and of a commit that is no longer current", async () => {
    repo.files({ "a.ts": "export const one = 1;\n", "b.ts": "export const two = 2;\n" }).commit("base");
    const sha = repo.head();
    await pipeline.run({ url: git.url("repo") });
    repo
      .branch("side")
      .checkout("side")
      .write("side.ts", "export const aside = 3;\n")
      .write("b.ts", "export const twice = 4;\n");
    repo.commit("side");
    await pipeline.run({ url: git.url("repo"), ref: "side", options: { current: false } });
    repo.checkout("main").write("a.ts", "export const uno = 1;\n").commit("next");
    await pipeline.run({ url: git.url("repo") });

    const numbers = await rowsOf<{ seq: number; sha: string }>(
      pipeline.db,
      sql`select seq, git_sha as sha from revisions where workspace_id = ${pipeline.workspaceId} order by seq`,
    );
    const first = numbers.find((row) => row.sha === sha)!.seq;
    const side = numbers.find((row) => row.seq !== first)!.seq;
    const edit = [{ path: "c.ts", text: "export const added = 5;\n" }];
    const paths = async (scope: Scope) =>
      (await indexOf(pipeline).ask(filesQuestion, scope, FilesQuery.parse({}))).files.map(({ path }) => path);
    const [onFirst, onSide] = [await pipeline.overlay(first, edit), await pipeline.overlay(side, edit)];
    expect(await paths({ overlay: onFirst })).toEqual(["a.ts", "b.ts", "c.ts"]);
    expect(await paths({ overlay: onSide })).toEqual(["a.ts", "b.ts", "c.ts", "side.ts"]);
    const textOf = async (overlay: string, path: string) =>
      (await indexOf(pipeline).ask(file, { overlay }, FileQuery.parse({ path }))).text;
    expect(await textOf(onFirst, "a.ts")).toBe("export const one = 1;");
    expect(await textOf(onSide, "b.ts")).toBe("export const twice = 4;");
    expect(await textOf(onSide, "a.ts")).toBe("export const one = 1;");

    // The commit itself is not mistaken for its edited copy, and the next run is not disturbed.
    expect(await paths({ workspaceId: pipeline.workspaceId, ref: sha })).toEqual(["a.ts", "b.ts"]);
    repo.write("d.ts", "export const more = 6;\n").commit("after");
    expect((await pipeline.run({ url: git.url("repo") })).error).toBeNull();
    expect(await paths({ workspaceId: pipeline.workspaceId })).toEqual(["a.ts", "b.ts", "d.ts"]);
    expect(await paths({ overlay: onFirst })).toEqual(["a.ts", "b.ts", "c.ts"]);
  });

  it("is made once of the same edits, and can be asked by the credential that sent it, until it expires", async () => {
    repo.files({ "a.ts": "export const one = 1;\n" }).commit("base");
    await pipeline.run({ url: git.url("repo") });
    const seq = await seqOf(pipeline);
    const edit = [{ path: "a.ts", text: "export const secretEdit = 1;\n" }];
    const overlay = await pipeline.overlay(seq, edit);
    expect(await pipeline.overlay(seq, edit)).toBe(overlay);
    expect(await pipeline.overlay(seq, edit, "other")).not.toBe(overlay);

    const ask = (own: HostedIndex, scope: Scope) =>
      own.ask(symbols, scope, SymbolsQuery.parse({ name: "secretEdit" })).then(({ symbols: found }) => found.length);
    expect(await ask(indexOf(pipeline), { overlay })).toBe(1);
    expect((await indexOf(pipeline).ask(file, { overlay }, FileQuery.parse({ path: "a.ts" }))).indexes).toMatchObject([
      { isWorkTree: true },
    ]);
    const gone = { code: "NO_INDEX", message: expect.stringContaining("send the edits again") as string };
    await expect(ask(indexOf(pipeline, "third"), { overlay })).rejects.toMatchObject(gone);
    await expect(ask(indexOf(await newPipeline()), { overlay })).rejects.toMatchObject(gone);
    await expect(ask(indexOf(pipeline), { overlay: "nonsense" })).rejects.toMatchObject(gone);
    await expect(ask(indexOf(pipeline), { overlay, ref: "main" })).rejects.toMatchObject({ code: "INVALID_SELECTOR" });
    await expect(ask(indexOf(pipeline), { workspaceId: pipeline.workspaceId })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });

    await sweepIndex(pipeline.db, pipeline.bucket, Date.now());
    expect(await sweepOverlays(pipeline.db, pipeline.searchBucket)).toBe(0);
    expect(await ask(indexOf(pipeline), { overlay })).toBe(1);

    await pipeline.db.execute(sql`update overlays set expires_at = now() - interval '1 second' where id = ${overlay}`);
    await expect(ask(indexOf(pipeline), { overlay })).rejects.toMatchObject(gone);
    expect(await sweepOverlays(pipeline.db, pipeline.searchBucket)).toBe(1);
    const left = await rowsOf<{ seq: number }>(
      pipeline.db,
      sql`select seq from revisions where workspace_id = ${pipeline.workspaceId}
          union all select seq from revision_overlays where workspace_id = ${pipeline.workspaceId}`,
    );
    // Of the other credential's overlay the revision and its difference.
    expect(left.filter((row) => row.seq < 0)).toHaveLength(2);
    expect(await pipeline.overlay(seq, edit)).toBe(overlay);
    expect(await ask(indexOf(pipeline), { overlay })).toBe(1);

    // As after a back-up, which has no overlays.
    await pipeline.db.execute(sql`delete from overlays where tenant_id = ${pipeline.tenantId}`);
    await sweepIndex(pipeline.db, pipeline.bucket, Date.now());
    const after = await rowsOf<{ seq: number }>(
      pipeline.db,
      sql`select seq from revisions where workspace_id = ${pipeline.workspaceId}
          union all select seq from revision_overlays where workspace_id = ${pipeline.workspaceId}`,
    );
    expect(after).toEqual([{ seq }]);
  });

  it("is ranked by the vectors of its own texts where the service has a model", async () => {
    const wordsOf = (text: string) =>
      ["lease", "invoice", "cursor", "retry"].map((word) => text.split(word).length - 1);
    const vectorOf = (text: string) => new Float32Array([...wordsOf(text.replaceAll("attempts", "retry")), 0.1]);
    const model: Embedder = {
      isModel: true,
      fingerprint: "words",
      dimension: 5,
      probeDimension: async () => 5,
      embed: async (inputs) => ({ vectors: inputs.map(vectorOf), tokens: inputs.length }),
    };
    repo
      .files({ "a.ts": "// lease lease\nexport const a = 1;\n", "b.ts": "// invoice\nexport const b = 2;\n" })
      .commit("base");
    await pipeline.run({ url: git.url("repo"), embedder: model });
    const edit = [{ path: "a.ts", text: "// retry retry retry\nexport const a = 1;\n" }];
    const overlay = await pipeline.overlay(await seqOf(pipeline), edit, "test", model);
    const query = { fingerprint: "words", embed: async (text: string) => vectorOf(text) };
    const index = new HostedIndex(
      { ...deps(pipeline), model: query },
      { tenantId: pipeline.tenantId, credentialId: "test" },
    );
    const first = async (words: string, scope: Scope) =>
      (await index.ask(search, scope, SearchRequest.parse({ query: words }))).results.map(({ path }) => path)[0];
    // No file has this word: only the vectors know what it means.
    expect(await first("attempts", { overlay })).toBe("a.ts");
    expect(await first("attempts", { workspaceId: pipeline.workspaceId })).toBeUndefined();
    const vectors = await rowsOf<{ ids: string[] }>(
      pipeline.db,
      sql`select search_vectors as ids from revisions where workspace_id = ${pipeline.workspaceId} and seq < 0`,
    );
    expect(vectors[0]?.ids.length).toBeGreaterThan(0);
  });

  it("is not made of edits that are gone, and says so", async () => {
    repo.files({ "a.ts": "export const one = 1;\n" }).commit("base");
    await pipeline.run({ url: git.url("repo") });
    await expect(pipeline.overlay(99, [{ path: "a.ts", text: "" }])).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});
