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
 * What axe-core says of colours, with three texts and fields of each look, that is of their colours and what they lie on. The others are
 * hidden meanwhile: looking at each of thousands of table cells takes ten seconds.
 */
const COLOURS = `(async () => {
  const PROPERTIES = ["color", "background-color", "background-image", "opacity", "font-size", "font-weight", "text-shadow",
    "text-decoration", "border-bottom", "filter", "mix-blend-mode"];
  const looks = new Map();
  const lookOf = (element) => {
    if (element === null) return "";
    if (!looks.has(element)) {
      const style = getComputedStyle(element);
      const own = PROPERTIES.map((name) => style.getPropertyValue(name)).join();
      looks.set(element, own + "/" + lookOf(element.parentElement));
    }
    return looks.get(element);
  };
  const hasText = ({ childNodes }) =>
    [...childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== "");
  const seen = [...document.body.querySelectorAll("*")].filter(
    (element) => element.checkVisibility() && (element.matches("input, select, textarea") || hasText(element)),
  );
  const kept = new Set(Object.values(Object.groupBy(seen, lookOf)).flatMap((alike) => alike.slice(0, 3)));
  const around = new Set([document.body]);
  for (const element of kept) for (let at = element.parentElement; at; at = at.parentElement) around.add(at);
  const hidden = [...around].flatMap(({ children }) => [...children]).filter(
    (child) => child instanceof HTMLElement && !kept.has(child) && !around.has(child) && child.style.display === "",
  );
  for (const { style } of hidden) style.display = "none";
  try {
    return await axe.run(document, { resultTypes: ["violations"], runOnly: ${JSON.stringify(COLOUR_RULES)} });
  } finally {
    for (const { style } of hidden) style.display = "";
  }
})()`;

/**
 * Violations that axe-core finds on a page, and ids that are used twice, one line each; with `colours` only what the colours break. It
 * runs by the browser's debugger, which the content policy does not stop.
 */
export async function findViolations(page: Page, rules: "all" | "colours" = "all"): Promise<string[]> {
  const isLoaded = await page.evaluate("typeof axe === 'object'");
  if (isLoaded !== true) await page.evaluate(SOURCE);
  const options = {
    resultTypes: ["violations"],
    rules: Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }])),
  };
  const others =
    rules === "all"
      ? (await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`)).violations
      : [];
  const violations = [...others, ...(await page.evaluate<AxeResults>(COLOURS)).violations];
  const ids = await page.evaluate<string[]>("Array.from(document.querySelectorAll('[id]'), ({ id }) => id)");
  return [
    ...ids.filter((id, i) => ids.indexOf(id) < i).map((id) => `several elements have the id ${id}`),
    ...violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help} — ${html.slice(0, 200)} — ${failureSummary ?? ""}`),
    ),
  ];
}
