import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface AxeResults {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[];
}

/** The rules that look at colours; what the others look at is the same in both themes. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/**
 * Violations that axe-core finds on a page, and ids that are used twice, one line each; with `colours` only what the colours break. It
 * runs by the browser's debugger, which the content policy does not stop.
 */
export async function findViolations(page: Page, rules: "all" | "colours" = "all"): Promise<string[]> {
  const isLoaded = await page.evaluate("typeof axe === 'object'");
  if (isLoaded !== true) await page.evaluate(SOURCE);
  const options = { resultTypes: ["violations"], ...(rules === "colours" && { runOnly: COLOUR_RULES }) };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  const ids = await page.evaluate<string[]>("Array.from(document.querySelectorAll('[id]'), ({ id }) => id)");
  return [
    ...ids.filter((id, i) => ids.indexOf(id) < i).map((id) => `several elements have the id ${id}`),
    ...violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help} — ${html.slice(0, 200)} — ${failureSummary ?? ""}`),
    ),
  ];
}
