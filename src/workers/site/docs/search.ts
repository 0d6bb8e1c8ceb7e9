/** Search in the documentation, by the engine that searches code. */
import { inMemory } from "../../../engines/search/bytes.ts";
import { openIndex, type SearchIndex } from "../../../engines/search/search-index.ts";
import { search } from "../../../engines/search/search.ts";
import { matchedTexts, type TextSource } from "../../../engines/search/types.ts";
import { docs, segment, table } from "./content.ts";
import { type Section, sectionsOf } from "./sections.ts";

const LIMIT = 12;
const MAX_QUERY = 300;
const SNIPPET_LINES = 3;

export interface DocsHit {
  title: string;
  /** The heading of the section; undefined above the first one. */
  heading: string | undefined;
  /** Address with the heading's anchor. */
  href: string;
  /** The lines around the first match, as plain text. */
  snippet: string;
  /** Words of the query as written in the text. */
  matched: string[];
}

interface Opened {
  index: SearchIndex;
  sections: Map<string, Section>;
}
let opened: Promise<Opened> | undefined;

/** The best sections for a query. An empty query finds nothing. */
export async function searchDocs(query: string): Promise<DocsHit[]> {
  const words = query.trim().slice(0, MAX_QUERY);
  if (words === "") return [];
  opened ??= open();
  const { index, sections } = await opened;
  const { results } = await search(index, { query: words, limit: LIMIT }, textsOf(sections));
  const hits: DocsHit[] = [];
  for (const { path, startLine, endLine, matched } of results) {
    const section = sections.get(path);
    if (section === undefined) continue;
    const found = matchedTexts(matched);
    const { page, heading } = section;
    const address = page.slug === "" ? "/docs" : `/docs/${page.slug}`;
    hits.push({
      title: page.title,
      heading: heading?.text,
      href: heading === undefined ? address : `${address}#${heading.id}`,
      snippet: linesAround(linesOf(section, startLine, endLine), found),
      matched: found,
    });
  }
  return hits;
}

async function open(): Promise<Opened> {
  const sections = new Map(docs.pages.flatMap(sectionsOf).map((section) => [section.path, section]));
  const index = await openIndex([
    { table: inMemory(new Uint8Array(table)), segment: () => inMemory(new Uint8Array(segment)) },
  ]);
  return { index, sections };
}

const textsOf =
  (sections: Map<string, Section>): TextSource =>
  (wanted) =>
    wanted.map(({ path, chunks, symbols }) => {
      const lines = sections.get(path)?.text.split("\n") ?? [];
      return {
        chunks: chunks.map(({ startLine, endLine }) => lines.slice(startLine - 1, endLine).join("\n")),
        signatures: symbols.map(() => ""),
      };
    });

function linesOf({ text }: Section, startLine: number, endLine: number): string {
  return text
    .split("\n")
    .slice(startLine - 1, endLine)
    .join("\n");
}

/** Some lines of Markdown from the first that matches on, without marks. */
function linesAround(markdown: string, matched: readonly string[]): string {
  const lines = markdown
    .split("\n")
    .filter((line) => !/^(?:#|```|\|[\s|:-]*$|\s*$|<!--)/.test(line))
    .map(plainLine);
  const first = lines.findIndex((line) => matched.some((word) => line.toLowerCase().includes(word.toLowerCase())));
  return lines.slice(Math.max(0, first)).slice(0, SNIPPET_LINES).join("\n");
}

function plainLine(line: string): string {
  return line
    .replaceAll(/\[([^\][]*)\]\([^()]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/ *\| */g, "  ")
    .replace(/^[\s>-]+/, "")
    .trim();
}
