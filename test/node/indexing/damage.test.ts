import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { createEmbedder } from "../../../src/engines/embedding/index.ts";
import { StagingError, treesKey } from "../../../src/service/indexing/staging.ts";
import { git, givenRepository, pipeline, repo } from "../../support/given-repository.ts";

givenRepository();

const url = () => git.url("repo");
const source = (name: string) => `export function ${name}(a: number): number {\n  return a + 1;\n}\n`;

describe("an index run", () => {
  it("takes trees that cannot be read for trees that are not there", async () => {
    repo.write("a.ts", source("first")).commit();
    const { spec } = await pipeline.run({ url: url() });
    const key = treesKey(pipeline.workspaceId, spec.runId);
    repo.write("b.ts", source("second")).commit();
    const get = pipeline.bucket.get.bind(pipeline.bucket);
    pipeline.bucket.get = async (wanted, options) => {
      const object = await get(wanted, options);
      return object && wanted === key
        ? { ...object, arrayBuffer: () => Promise.reject(new StagingError("cut off")) }
        : object;
    };
    expect(await pipeline.run({ url: url() })).toMatchObject({
      state: "succeeded",
      result: { fileCount: 2, embeddedCount: 1 },
    });
  });

  it("embeds no stored chunk whose text is not what its hash says", async () => {
    repo.files({ "a.ts": source("a"), "b.ts": source("b") }).commit();
    await pipeline.run({ url: url() });
    await pipeline.db.execute(
      sql`update chunks set text = text || '!' where text like '%function a(%' and content_id in (select id from contents where tenant_id = ${pipeline.tenantId})`,
    );
    const embedder = createEmbedder(
      { provider: "builtin", model: "lexical", dimension: 64, timeoutMs: 60_000 },
      { fetch },
    )!;
    expect((await pipeline.run({ url: url(), embedder })).result).toMatchObject({ fileCount: 2, embeddedCount: 1 });
  });
});
