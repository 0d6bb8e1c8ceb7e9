import type { Route } from "../route.ts";
import { ROUTES } from "../routes.ts";
import { buildDocument } from "./document.ts";
import { renderLimits } from "./limits-page.ts";
import { renderManual } from "./markdown.ts";

/** Contents of the generated files, by path in the repository. */
export function generatedFiles(version: string, routes: readonly Route[] = ROUTES): Record<string, string> {
  const document = buildDocument(routes, version);
  return {
    "docs/openapi.json": `${JSON.stringify(document, null, 2)}\n`,
    "docs/http.md": renderManual(routes, document),
    "docs/limits.md": renderLimits(),
  };
}
