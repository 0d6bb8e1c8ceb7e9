import { detectLanguage } from "../../../src/engines/parsing/detect.ts";
import { readGoModules } from "../../../src/engines/relations/go-modules.ts";
import { decodeUses } from "../../../src/engines/relations/stored-uses.ts";
import { resolveUse } from "../../../src/engines/relations/resolve.ts";
import type { RelatedFiles, Resolved } from "../../../src/engines/relations/resolved.ts";
import type { FileUses } from "../../../src/engines/relations/types.ts";
import type { LanguageId } from "../../../src/engines/parsing/languages.ts";
import { UsesIndex } from "../../../src/engines/relations/uses-index.ts";
import { lastPart } from "../../../src/engines/search/names.ts";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import type { SearchIndex } from "../../../src/engines/search/search-index.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import type { TextSource } from "../../../src/engines/search/types.ts";
import { findSymbols, outlineOf } from "../../../src/engines/search/lookups.ts";
import { findReferences } from "../../../src/engines/search/references.ts";
import type { OpenIndexes } from "../../../src/interface/questions/code-index.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { sharedParser } from "../parsing/support.ts";
import { openFiles, segmentOf, sha256, type TestFile, textsOf } from "../retrieval/support.ts";

type Files = Readonly<Record<string, string>>;

/** What each use of a file leads to, as `name@line → path:line`. */
export async function callsIn(files: Files, path: string): Promise<string[]> {
  const parsed = new Map<string, FileUses | undefined>();
  const definitions = new Map<string, { path: string; kind: string }[]>();
  for (const [own, text] of Object.entries(files)) {
    const bytes = Buffer.from(text);
    const language = detectLanguage(own, bytes);
    const { uses, symbols } = await (await sharedParser()).parse({ bytes, language: language as "typescript" });
    parsed.set(own, uses && decodeUses(uses));
    for (const { name, kind } of symbols) {
      const last = lastPart(name);
      definitions.set(last, [...(definitions.get(last) ?? []), { path: own, kind }]);
    }
  }
  const related: RelatedFiles = {
    uses: (own) => Promise.resolve(parsed.get(own)),
    definitions: (name) => Promise.resolve(definitions.get(name) ?? []),
    packageElsewhere: () => Promise.resolve(undefined),
    globalUsings: () => Promise.resolve([]),
    goModules: () =>
      readGoModules({
        paths: Object.keys(files),
        has: (own) => Object.hasOwn(files, own),
        isTest: (own) => own.startsWith("tests/"),
        textsOf: (paths) => Promise.resolve(paths.map((own) => files[own])),
      }),
    entries: () => Promise.resolve([]),
  };
  const uses = parsed.get(path)?.uses ?? [];
  return Promise.all(
    uses.map(async (use) => `${use.name}@${use.line} → ${shown(await resolveUse(path, use, related))}`),
  );
}

function shown(found: Resolved): string {
  if (typeof found === "string") return found;
  const places = (found.among ?? [found]).map(({ path, line }) => `${path}:${line ?? "module"}`);
  return `${places.join(" | ")}${found.isLikely === true ? " likely" : ""}`;
}

/** The callers of the definitions with a name, or a qualified name, as `path:line certainty`, sorted. */
export async function callersOf(files: Files, name: string): Promise<string[]> {
  return (await callersIn(files, [name]))[name] ?? [];
}

/** The callers of the definitions with each of some names, or qualified names, as `callersOf` has them. */
export async function callersIn(files: Files, names: readonly string[]): Promise<Record<string, string[]>> {
  const { index, texts } = await openedOf(files);
  const found: Record<string, string[]> = {};
  for (const name of names) {
    const uses = new UsesIndex(index, texts);
    const named = await uses.definitions(name);
    const qualified = named.filter(({ qualifiedName }) => qualifiedName === name);
    const own = await new UsesFinder(uses, "callers").find(qualified.length > 0 ? qualified : named, 1);
    found[name] = own.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`).sort();
  }
  return found;
}

/** The files as one revision, parsed as an index would parse them. */
export async function indexOf(files: Files): Promise<UsesIndex> {
  const { index, texts } = await openedOf(files);
  return new UsesIndex(index, texts);
}

/** As `indexOf`, for several questions. */
export async function openedOf(files: Files): Promise<{ index: SearchIndex; texts: TextSource }> {
  const parser = await sharedParser();
  const given = Object.entries(files).map(([path, text]) => {
    const language = detectLanguage(path, Buffer.from(text)) as LanguageId;
    return { path, text, language };
  });
  const analyses: Uint8Array[] = [];
  const parsedFiles: TestFile[] = [];
  for (const { path, text, language } of given) {
    const parsed = await parser.parse({ bytes: Buffer.from(text), language });
    parsedFiles.push({ path, text, language, symbols: parsed.symbols });
    analyses.push(analyzeContent({ sha256: sha256(text), language, ...parsed }));
  }
  const index = await openFiles(given, [await segmentOf(buildSegment(analyses))]);
  return { index, texts: textsOf(parsedFiles) };
}

/** The index of the files, as questions about relations open it. */
export async function indexesOf(files: Files): Promise<OpenIndexes> {
  const { index, texts } = await openedOf(files);
  const uses = new UsesIndex(index, texts);
  const indexes: Partial<OpenIndexes> = {
    indexes: [{ name: "r", gitSha: null, indexedAtMs: 0, isWorkTree: false }],
    symbols: (request) => findSymbols(index, request, texts),
    references: (request) => findReferences(index, request, texts),
    outline: async (path) => {
      const found = await outlineOf(index, 0, path, texts);
      return found && { revision: 0, ...found };
    },
    withUses: (_, work) => work(uses, uses),
  };
  return indexes as OpenIndexes;
}
