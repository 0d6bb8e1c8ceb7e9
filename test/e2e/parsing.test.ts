import { createHash } from "node:crypto";
import { asc, eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { chunks, contents, symbols } from "../../src/service/db/content-schema.ts";
import { nodeGrammars } from "../../src/engines/parsing/grammars-node.ts";
import { detectLanguage, languageInfo } from "../../src/engines/parsing/detect.ts";
import { createParser } from "../../src/engines/parsing/parser.ts";
import type { ParsedFile } from "../../src/engines/parsing/types.ts";
import { parsingCases } from "../support/parsing-cases.ts";
import { startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { api, database, newTenant } from "./support/service.ts";

/** A file in every language that has symbols, and files that are hard on a parser: path → bytes. */
function inputs(): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const { file, language, bytes } of parsingCases()) {
    const { extensions, filenames } = languageInfo(language);
    const [extension] = extensions;
    const name = file.replace(/\.txt$/, "");
    files.set(extension === undefined ? `${name}/${filenames[0]}` : `${name}.${extension}`, bytes);
  }
  const put = (path: string, text: string, encoding: BufferEncoding = "utf8") =>
    files.set(path, Buffer.from(text, encoding));
  put("heap.cpp", "a<b,\n".repeat(10_000));
  put("after.cpp", "struct After { int a; };\n");
  put("crlf.py", "class A:\r\n    a: int\r\n\r\n    def m(self):\r\n        pass\r\n");
  put("mark.ts", "\uFEFFinterface I { a: '😀𝒳'; b: number }\n");
  put("latin.c", "/* caf\u00e9 */\nstruct S { int a; };\n", "latin1");
  put("plain.rst", "Title\n=====\n\ntext\n");
  return files;
}

async function parseInNode(files: Map<string, Uint8Array>): Promise<Map<string, ParsedFile & { language: string }>> {
  const parser = await createParser(nodeGrammars());
  const parsed = new Map<string, ParsedFile & { language: string }>();
  for (const [path, bytes] of files) {
    const language = detectLanguage(path, bytes) ?? "text";
    parsed.set(path, { ...(await parser.parse({ bytes: new Uint8Array(bytes), language })), language });
  }
  return parsed;
}

it("parses in the Worker what it parses in Node, to the byte", async () => {
  const files = inputs();
  const tenant = await newTenant();
  using repo = new GitRepo();
  await using git = await startGitBackend(repo.root);
  repo.files(Object.fromEntries(files)).commit();
  const body = { workspaceId: tenant.workspaceId, source: { type: "git", url: git.url("repo") } };
  const [answer, parsed] = await Promise.all([api("/index", { key: tenant.workerToken, body }), parseInNode(files)]);
  expect(await answer.json()).toMatchObject({ ok: true, fileCount: files.size, skipped: {} });

  const db = database();
  const [stored, symbolRows, chunkRows] = await Promise.all([
    db.select().from(contents).where(eq(contents.tenantId, tenant.tenantId)),
    db
      .select({ row: symbols })
      .from(symbols)
      .innerJoin(contents, eq(contents.id, symbols.contentId))
      .where(eq(contents.tenantId, tenant.tenantId))
      .orderBy(asc(symbols.ordinal)),
    db
      .select({ row: chunks })
      .from(chunks)
      .innerJoin(contents, eq(contents.id, chunks.contentId))
      .where(eq(contents.tenantId, tenant.tenantId))
      .orderBy(asc(chunks.ordinal)),
  ]);
  expect(stored).toHaveLength(files.size);
  const contentOf = new Map(stored.map((content) => [Buffer.from(content.sha256).toString("hex"), content]));
  for (const [path, { language, outcome, fallbackReason, ...here }] of parsed) {
    const content = contentOf.get(createHash("sha256").update(files.get(path)!).digest("hex"));
    expect(content, path).toMatchObject({
      language,
      outcome: fallbackReason === undefined ? outcome : `fallback:${fallbackReason}`,
      lineCount: here.lineCount,
    });
    const rowsOf = <Row extends { contentId: string; ordinal: number }>(rows: readonly { row: Row }[]) =>
      rows
        .filter(({ row }) => row.contentId === content?.id)
        .map(({ row: { contentId: _id, ordinal: _at, ...row } }) => row);
    expect(rowsOf(symbolRows), path).toEqual(here.symbols);
    const there = rowsOf(chunkRows);
    expect(
      there.map(({ hash: _hash, ...chunk }) => chunk),
      path,
    ).toEqual(here.chunks.map(({ hash: _hash, ...chunk }) => chunk));
    expect(
      there.map(({ hash }) => Buffer.from(hash).toString("hex")),
      path,
    ).toEqual(here.chunks.map(({ hash }) => hash));
  }
  expect(parsed.get("heap.cpp")?.fallbackReason).toBe("budget");
});
