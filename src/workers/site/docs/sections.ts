/** Sections of pages: what the search index of the documentation holds as its files. */
import type { DocsPage, Heading } from "./types.ts";

export interface Section {
  /** Its name in the index. Words of it count in the ranking: `operations/back-up-and-restore.md`. */
  path: string;
  page: Pick<DocsPage, "slug" | "title" | "label">;
  /** Undefined for the text above the first heading. */
  heading: Heading | undefined;
  /** Markdown, the line of the heading included. */
  text: string;
}

/** Splits a page at its headings of the levels 2 and 3. Deterministic: the build and the Worker must agree. */
export function sectionsOf(page: Pick<DocsPage, "slug" | "title" | "label" | "headings" | "markdown">): Section[] {
  const lines = page.markdown.split("\n");
  const starts = [undefined, ...page.headings.filter(({ depth }) => depth <= 3)];
  const folder = page.slug === "" ? "overview" : page.slug;
  return starts.map((heading, i) => {
    const text = lines.slice((heading?.line ?? 1) - 1, (starts[i + 1]?.line ?? lines.length + 1) - 1).join("\n");
    return { path: `${folder}/${heading?.id ?? folder}.md`, page, heading, text };
  });
}
