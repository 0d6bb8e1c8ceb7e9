/** Where links of the pages lead on the site. */
import { existsSync } from "node:fs";
import path from "node:path";
import { PROJECT_ROOT } from "../project.ts";
import { PAGES } from "./pages.ts";
import type { LinkResolver } from "./render.ts";

/** Examples that pages link to; the site serves them as plain text. */
const ATTACHMENT = /^[\w/-]+\.ya?ml$/;

/**
 * Makes the resolver for the links of one page. It throws for a relative link that leads nowhere; anchors are not checked.
 *
 * @param attach called with each linked file that is no page, as a path below `docs/`
 */
export function siteLink(page: string, attach: (file: string) => void): LinkResolver {
  return (href) => {
    if (href.startsWith("#") || /^https?:\/\//.test(href)) return href;
    const [file = "", anchor] = href.split("#");
    if (file === "openapi.json") return "/api/v1/openapi.json";
    if (ATTACHMENT.test(file) && existsSync(path.join(PROJECT_ROOT, "docs", file))) {
      attach(file);
      return `/docs/${file}`;
    }
    if (!PAGES.some((entry) => entry.file === file)) throw new Error(`docs/${page}: ${href} is no page of the site`);
    const address = file === "README.md" ? "/docs" : `/docs/${file.replace(/\.md$/, "")}`;
    return anchor === undefined ? address : `${address}#${anchor}`;
  };
}
