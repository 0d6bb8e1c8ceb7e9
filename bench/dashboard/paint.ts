/** First paint of the dashboard's pages in a real browser. */
import type { Browser } from "playwright-core";
import { median } from "../support.ts";

/** Widths and heights of windows. */
export const WINDOWS = { wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;

/**
 * Median milliseconds from the start of a navigation to the first contentful paint of each page, asked in turn with the style and the
 * script in the browser's cache. `cookie` is the session's, as "name=value".
 */
export async function firstPaints(
  browser: Browser,
  urls: readonly string[],
  { cookie, rounds, window }: { cookie: string; rounds: number; window: { width: number; height: number } },
): Promise<number[]> {
  const context = await browser.newContext({ viewport: window });
  try {
    const [name = "", value = ""] = cookie.split("=");
    await context.addCookies(urls.slice(0, 1).map((url) => ({ name, value, url: new URL(url).origin })));
    const page = await context.newPage();
    const times = urls.map((): number[] => []);
    for (let round = -1; round < rounds; round++) {
      for (const [i, url] of urls.entries()) {
        const response = await page.goto(url, { waitUntil: "load" });
        if (response?.status() !== 200) throw new Error(`${url} answered ${response?.status()}`);
        const at = await page.waitForFunction(
          () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
        );
        if (round >= 0) times[i]?.push((await at.jsonValue()) ?? NaN);
      }
    }
    return times.map(median);
  } finally {
    await context.close();
  }
}
