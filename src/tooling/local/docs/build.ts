/** `npm run docs:site`: renders `docs/` and its search index into `dist/docs`, from which the site Worker's bundle takes them. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { nodeGrammars } from "../../../engines/parsing/grammars-node.ts";
import { createParser } from "../../../engines/parsing/parser.ts";
import { analyzeContent } from "../../../engines/search/analyze.ts";
import { inMemory } from "../../../engines/search/bytes.ts";
import { buildSegment } from "../../../engines/search/segment-writer.ts";
import { Segment } from "../../../engines/search/segment.ts";
import { buildTable } from "../../../engines/search/table.ts";
import type { RevisionFile } from "../../../engines/search/types.ts";
import { sectionsOf } from "../../../workers/site/docs/sections.ts";
import type { Docs, DocsPage } from "../../../workers/site/docs/types.ts";
import { PROJECT_ROOT } from "../project.ts";
import { type LinkReport, siteLink, siteMarkdown } from "./links.ts";
import { PAGES } from "./pages.ts";
import { renderPage } from "./render.ts";

const OUTPUT = path.join(PROJECT_ROOT, "dist", "docs");

/** Renders all pages. A dead link does not fail the build; a test looks for them. */
export function renderDocs(): { docs: Docs; dead: string[] } {
  const report: LinkReport = { attachments: new Set(), dead: [] };
  const pages = PAGES.map(({ file, label, group, description }) => {
    const source = readFileSync(path.join(PROJECT_ROOT, "docs", file), "utf8");
    const slug = file === "README.md" ? "" : file.replace(/\.md$/, "");
    const { title, html, headings } = renderPage(source, siteLink(file, report));
    const markdown = siteMarkdown(file, source, report);
    return { slug, file, label, group, description, markdown, title, html, headings };
  });
  const texts = [...report.attachments].map((name) => [name, readFileSync(path.join(PROJECT_ROOT, name), "utf8")]);
  return { docs: { pages, attachments: Object.fromEntries(texts) as Record<string, string> }, dead: report.dead };
}

/** The search index of the pages' sections: one segment, and the table that names its contents. The list of pages is left out. */
export async function indexDocs(pages: readonly DocsPage[]): Promise<{ segment: Uint8Array; table: Uint8Array }> {
  const parser = await createParser(nodeGrammars());
  const files: RevisionFile[] = [];
  const analyses: Uint8Array[] = [];
  for (const { path: name, text } of pages.filter(({ slug }) => slug !== "").flatMap(sectionsOf)) {
    const bytes = Buffer.from(text);
    const key = { sha256: createHash("sha256").update(bytes).digest("hex"), language: "markdown" } as const;
    const { chunks, symbols } = await parser.parse({ bytes, language: key.language });
    analyses.push(analyzeContent({ ...key, chunks, symbols }));
    files.push({ ...key, path: name });
  }
  const segment = buildSegment(analyses);
  const id = createHash("sha256").update(segment).digest("hex").slice(0, 32);
  const { table } = buildTable(files, [{ id, segment: await Segment.open(inMemory(segment)) }]);
  return { segment, table };
}

/** Writes a file only if its content changed, so that nothing is rebuilt needlessly. */
function write(name: string, content: string | Uint8Array): void {
  const file = path.join(OUTPUT, name);
  if (existsSync(file) && readFileSync(file).equals(Buffer.from(content))) return;
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, content);
  renameSync(temporary, file);
}

if (import.meta.main) {
  const { docs, dead } = renderDocs();
  for (const link of dead) console.warn(`dead link: ${link}`);
  const { segment, table } = await indexDocs(docs.pages);
  mkdirSync(OUTPUT, { recursive: true });
  write("docs.txt", JSON.stringify(docs));
  write("segment.bin", segment);
  write("table.bin", table);
}
