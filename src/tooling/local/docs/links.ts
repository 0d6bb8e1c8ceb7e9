/** Resolves links between pages to their targets on the site. */
import { existsSync } from "node:fs";
import path from "node:path";
import { PROJECT_ROOT } from "../project.ts";
import { PAGES } from "./pages.ts";
import type { LinkResolver } from "./render.ts";

/** Examples that pages link to; the site serves them as plain text. */
const ATTACHMENT = /^(?:\.\.\/)?[\w/.-]+\.(?:ya?ml|json|toml)$/;

/** What rendering finds out about the links of the pages. */
export interface LinkReport {
  /** Linked files that are not pages, as paths from the root of the repository. */
  attachments: Set<string>;
  /** Dead links and the page they are on. They are redirected to the overview. */
  dead: string[];
}

/** Makes the resolver for the links of one page, which adds to `report`. Anchors are not checked. */
export function siteLink(page: string, report: LinkReport): LinkResolver {
  return (href) => {
    if (href.startsWith("#") || /^https?:\/\//.test(href)) return href;
    const [file = "", anchor] = href.split("#");
    if (file === "openapi.json") return "/api/v1/openapi.json";
    const name = path.posix.join("docs", file);
    if (ATTACHMENT.test(file) && existsSync(path.join(PROJECT_ROOT, name))) {
      report.attachments.add(name);
      return `/docs/files/${name}`;
    }
    if (!PAGES.some((entry) => entry.file === file)) {
      report.dead.push(`docs/${page}: ${href}`);
      return "/docs";
    }
    const address = file === "README.md" ? "/docs" : `/docs/${file.replace(/\.md$/, "")}`;
    return anchor === undefined ? address : `${address}#${anchor}`;
  };
}

/** A Markdown link or image. Texts and targets with brackets or blanks are left as they are. */
const LINK = /(!?)\[([^\][]{0,500})\]\(([^()\s]{1,500})\)/g;

/** A page's Markdown with links that work beside the page, below `/docs`. Pictures are left out, since the site serves none; lines keep their numbers. */
export function siteMarkdown(page: string, markdown: string, report: LinkReport): string {
  const resolve = siteLink(page, report);
  return markdown.replaceAll(LINK, (whole, image: string, text: string, href: string) => {
    if (image !== "") return "";
    const isBeside = PAGES.some(({ file }) => file === href.split("#")[0]);
    return isBeside ? whole : `[${text}](${resolve(href)})`;
  });
}
