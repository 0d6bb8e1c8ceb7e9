/** The style sheet and the script, under names with a hash of their content, so that browsers may cache them forever. */
import { createHash } from "node:crypto";
import css from "./app.css";
import docsCss from "./docs.css";
import script from "./app.client.js";

interface Asset {
  path: string;
  type: string;
  body: string;
}

function asset(name: string, extension: string, type: string, body: string): Asset {
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 12);
  return { path: `/app/assets/${name}-${hash}.${extension}`, type, body };
}

export const STYLE = asset("app", "css", "text/css; charset=utf-8", css);
export const DOCS_STYLE = asset("docs", "css", "text/css; charset=utf-8", docsCss);
export const SCRIPT = asset("app", "js", "text/javascript; charset=utf-8", script);

const ICON_SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1d4ed8"/><path d="M13 9l-6 7 6 7M19 9l6 7-6 7" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
export const ICON = asset("icon", "svg", "image/svg+xml", ICON_SVG);

/** Finds an asset by its path. */
export function findAsset(path: string): Asset | undefined {
  return [STYLE, DOCS_STYLE, SCRIPT, ICON].find((asset) => asset.path === path);
}
