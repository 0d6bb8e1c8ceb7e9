/** Pages of the dashboard that answer questions: what each is asked, and how its answer is read from the HTML. */
import type { QuestionName } from "../../support/faces.ts";

/** A question as a page of the dashboard asks it, and what must stand on the page, given HTTP's answer. */
interface PageCase {
  request: Record<string, unknown>;
  /** Address of the page below its first segment. */
  address: string;
  /** What the page shows. */
  read: (html: string) => unknown;
  expected: (body: Record<string, unknown>) => unknown;
}

export const shownPlaces = (html: string) =>
  [...html.matchAll(/<a [^>]*data-result[^>]*>([^<]+:\d+)</g)].map(([, place]) => place);
/** The text of code, without the numbers of its lines. */
const plain = (html: string) =>
  html
    .replaceAll(/<a class="line-no"[^>]*>\d+<\/a>/g, "")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(
      /&(amp|lt|gt|quot|#39);/g,
      (entity) => ({ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' })[entity] ?? "'",
    );

export interface PlacesBody {
  results: { path: string; startLine: number }[];
  symbols: { path: string; startLine: number }[];
  definitions: { path: string; startLine: number }[];
  references: { path: string; line: number }[];
  matches: { path: string; line: number }[];
  outline: { name: string }[];
  text: string;
  files: { path: string }[];
  folders: { path: string }[];
}

export function pageCases(workspaceId: string, repo: string): Partial<Record<QuestionName, PageCase>> {
  const query = (values: Record<string, string>) => `?${new URLSearchParams(values).toString()}`;
  const own = (body: Record<string, unknown>) => body as unknown as PlacesBody;
  const inRepo = { repo: workspaceId };
  return {
    search: {
      request: { query: "how are expired sessions closed", limit: 15 },
      address: query({ q: "how are expired sessions closed", ...inRepo }),
      read: shownPlaces,
      expected: (body) => own(body).results.map(({ path, startLine }) => `${path}:${startLine}`),
    },
    grep: {
      request: { pattern: "closeexpired", fixedStrings: true, ignoreCase: true, wordRegexp: false, context: 1 },
      address: query({ q: "closeexpired", mode: "text", case: "any", ...inRepo }),
      read: (html) => [...html.matchAll(/<mark>([^<]*)<\/mark>/g)].length,
      expected: (body) => own(body).matches.length,
    },
    symbols: {
      request: { name: "closeExpired", match: "exact" },
      address: query({ name: "closeExpired", ...inRepo }),
      read: (html) => shownPlaces(html.slice(html.indexOf("Definitions ("), html.indexOf("Callers ("))),
      expected: (body) => own(body).symbols.map(({ path, startLine }) => `${path}:${startLine}`),
    },
    definition: {
      request: { path: "src/server.ts", line: 5, column: 9 },
      address: query({ path: "src/server.ts", line: "5", column: "9", name: "closeExpired", ...inRepo }),
      read: (html) => shownPlaces(html.slice(html.indexOf("Definitions ("), html.indexOf("Callers ("))),
      expected: (body) => own(body).definitions.map(({ path, startLine }) => `${path}:${startLine}`),
    },
    references: {
      request: { name: "closeExpired", limit: 200 },
      address: query({ name: "closeExpired", ...inRepo }),
      read: (html) => shownPlaces(html.slice(html.indexOf("Uses ("))),
      expected: (body) => own(body).references.map(({ path, line }) => `${path}:${line}`),
    },
    outline: {
      request: { path: "src/session-store.ts" },
      address: `/${repo}/src/session-store.ts`,
      read: (html) =>
        [...html.slice(html.indexOf("Symbols of the file")).matchAll(/<code>([^<]+)</g)].map(([, name]) => name),
      expected: (body) => own(body).outline.map(({ name }) => name),
    },
    file: {
      request: { path: "src/secret.ts" },
      address: `/${repo}/src/secret.ts`,
      read: (html) => plain(/<pre>.*?<\/pre>/s.exec(html)?.[0] ?? "").trim(),
      expected: (body) => own(body).text.replace(/\n$/, "\nwithheld: this line may hold a secret"),
    },
    files: {
      request: { depth: 1 },
      address: `/${repo}`,
      read: (html) => [...html.matchAll(/<a [^>]*data-result[^>]*>([^<]+)</g)].map(([, name]) => name),
      expected: (body) => [...own(body).folders, ...own(body).files].map(({ path }) => path),
    },
  };
}
