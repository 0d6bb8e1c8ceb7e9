import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface AxeResults {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[];
}

/** Violations that axe-core finds on a page, and ids that are used twice, one line each. It runs by the browser's debugger, which the content policy does not stop. */
export async function findViolations(page: Page): Promise<string[]> {
  const isLoaded = await page.evaluate("typeof axe === 'object'");
  if (isLoaded !== true) await page.evaluate(SOURCE);
  const { violations } = await page.evaluate<AxeResults>("axe.run(document, { resultTypes: ['violations'] })");
  const ids = await page.evaluate<string[]>("Array.from(document.querySelectorAll('[id]'), ({ id }) => id)");
  return [
    ...ids.filter((id, i) => ids.indexOf(id) < i).map((id) => `several elements have the id ${id}`),
    ...violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help} — ${html.slice(0, 200)} — ${failureSummary ?? ""}`),
    ),
  ];
}
