/** Renders a page of `docs/` to HTML: anchors as on GitHub, highlighted code, links between pages. */
import { Marked, type Token, type Tokens } from "marked";
import { escapeHtml } from "../../../lib/html.ts";
import type { Heading } from "../../../workers/site/docs/types.ts";
import { tokenize } from "../../../workers/site/views/highlight.ts";

interface RenderedPage {
  title: string;
  html: string;
  headings: Heading[];
}

/** Resolves a link of a page to its target on the site. */
export type LinkResolver = (href: string) => string;

const LANGUAGES: Record<string, string> = { sh: "bash", js: "javascript", ts: "typescript", yml: "yaml" };

/** @param markdown must begin with a heading of level 1, which becomes the title */
export function renderPage(markdown: string, resolve: LinkResolver): RenderedPage {
  const headings: Heading[] = [];
  const slugs = new Map<string, number>();
  const anchors = new WeakMap<Token, Heading>();
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading(token) {
        const { id } = anchors.get(token) ?? { id: "" };
        const inner = this.parser.parseInline(token.tokens);
        if (token.depth === 1) return `<h1 id="${id}">${inner}</h1>\n`;
        return `<h${token.depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${token.depth}>\n`;
      },
      code({ text, lang = "" }) {
        const name = lang.split(/\s/)[0] ?? "";
        return `<pre tabindex="0"><code>${highlight(text, LANGUAGES[name] ?? name)}</code></pre>\n`;
      },
      table(token) {
        const cell = (cell: Tokens.TableCell) => {
          // Screen readers cannot announce an empty header, so an empty corner cell is no header.
          const isHeader = cell.header && cell.text !== "";
          const tag = isHeader ? "th" : "td";
          return `<${tag}${isHeader ? ' scope="col"' : ""}>${this.parser.parseInline(cell.tokens)}</${tag}>`;
        };
        const row = (cells: Tokens.TableCell[]) => `<tr>${cells.map(cell).join("")}</tr>`;
        const head = token.header.some(({ text }) => text !== "") ? `<thead>${row(token.header)}</thead>` : "";
        return `<div class="scroll" tabindex="0"><table>${head}<tbody>${token.rows.map(row).join("")}</tbody></table></div>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(resolve(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      // Images are dropped: the Worker serves only text.
      image: () => "",
      // HTML is dropped: it is only used for comments to editors.
      html: () => "",
    },
  });
  const tokens = marked.lexer(markdown);
  let line = 1;
  let title = "";
  for (const token of tokens) {
    if (token.type === "heading") {
      const { depth, tokens: inline } = token as Tokens.Heading;
      const text = plainText(inline);
      const heading = { id: uniqueSlug(text, slugs), text, depth, line };
      anchors.set(token, heading);
      if (depth === 1) title ||= text;
      else headings.push(heading);
    }
    line += token.raw.split("\n").length - 1;
  }
  if (title === "") throw new Error("the page has no heading of level 1");
  return { title, html: marked.parser(tokens), headings };
}

/** All anchors of a page, that of its title included. */
export function anchorsOf({ title, headings }: RenderedPage): Set<string> {
  return new Set([uniqueSlug(title, new Map()), ...headings.map(({ id }) => id)]);
}

/** An anchor as GitHub makes it; headings with the same text get `-1`, `-2`. */
function uniqueSlug(text: string, used: Map<string, number>): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");
  const count = used.get(slug) ?? 0;
  used.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => ("tokens" in token && token.tokens ? plainText(token.tokens) : "text" in token ? token.text : ""))
    .join("");
}

function highlight(code: string, language: string): string {
  if (language === "" || language === "text") return escapeHtml(code);
  return tokenize(code, language)
    .map(({ kind, text }) =>
      kind === undefined ? escapeHtml(text) : `<span class="hl-${kind}">${escapeHtml(text)}</span>`,
    )
    .join("");
}
