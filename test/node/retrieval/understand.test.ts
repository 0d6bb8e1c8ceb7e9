import * as fc from "fast-check";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { translateGerman, splitRun } from "../../../src/engines/search/foreign.ts";
import { search } from "../../../src/engines/search/search.ts";
import { mergeSegments } from "../../../src/engines/search/segment-merge.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import type { SearchAnswer, Understood } from "../../../src/engines/search/types.ts";
import { MisspeltWord, readWords } from "../../../src/engines/search/vocabulary.ts";
import { openShop } from "./shop.ts";
import { coldIndex, contentOf, segmentOf, type TestFile, textsOf } from "./support.ts";

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  shop = await openShop();
});
const ask = (query: string): Promise<SearchAnswer> => search(shop.index, { query }, shop.texts);
const shown = (understood: readonly Understood[] = []) => understood.map(({ word, as }) => `${word}=${as}`);
const places = ({ results }: SearchAnswer) => results.map(({ path, startLine, score }) => [path, startLine, score]);

describe("a misspelt word", () => {
  it.each([
    ["expire sesions", "expire sessions", "sesions=sessions"],
    ["apply a discuont", "apply a discount", "discuont=discount"],
    ["inventery of the warehouse", "inventory of the warehouse", "inventery=inventory"],
    ["paymnet gateway", "payment gateway", "paymnet=payment"],
    ["verify the pasword", "verify the password", "pasword=password"],
    ["PaymentGatway", "PaymentGateway", "Gatway=gateway"],
    ["how is a tokn made", "how is a token made", undefined],
  ])("of %s is taken for that of %s", async (misspelt, right, expected) => {
    const answer = await ask(misspelt);
    expect(shown(answer.understood)).toEqual(expected === undefined ? [] : [expected]);
    if (expected !== undefined) expect(places(answer)).toEqual(places(await ask(right)));
  });

  it("leaves words that occur, short ones and quoted ones as they are", async () => {
    for (const query of ["cart", "crat", "session timeout", '"sesions" cart', "path:sesions/** cart"])
      expect((await ask(query)).understood).toBeUndefined();
  });

  it.each(["parse", "parses"])("%s is an English word, and is not taken for itself", async (query) => {
    const index = await coldIndex([{ path: "a.json", language: "json", text: '{ "oxc-parser": 1 }\n' }]);
    const { understood, weak } = await search(index, { query }, textsOf([]));
    expect({ understood, unknown: weak?.unknown }).toEqual({ understood: undefined, unknown: [query] });
  });

  it("leads to the key that was meant", async () => {
    const files = [
      { path: "app.conf", language: "ini", text: "# retry-budget 10\n" },
      { path: "a.ts", language: "typescript", text: 'read("retry-budget");\n', symbols: [symbol("retryBudget")] },
    ];
    const { results, understood } = await search(await coldIndex(files), { query: "retry-bugdet" }, textsOf(files));
    expect(shown(understood)).toEqual(["bugdet=budget"]);
    expect(results.map(({ matched }) => matched.map(({ text }) => text))).toContainEqual(
      expect.arrayContaining(["retry-budget"]),
    );
  });

  it.each([
    ["pooling", "polling"],
    ["stock", "stack"],
    ["leader", "loader"],
    ["training", "trailing"],
    ["model", "mode"],
    ["election", "event"],
    ["factor", "factory"],
    ["batch", "match"],
  ])("%s is not taken for %s, which is a word of its own", (word, other) => {
    expect(new MisspeltWord(word).slipsTo(other)).toBeUndefined();
  });

  it.each([
    ["recieve", "receive", 1],
    ["seperator", "separator", 1],
    ["authentification", "authentication", 2],
    ["cokies", "cookies", 1],
    ["behaviour", "behavior", 1],
    ["expierd", "expired", 1],
    ["clustr", "cluster", 1],
  ])("%s is %s with %i slips", (word, right, slips) => {
    expect(new MisspeltWord(word).slipsTo(right)).toBe(slips);
  });

  it("is compared in bounded time, and is never nearer than it is", () => {
    const word = fc.stringMatching(/^[a-z]{4,24}$/);
    fc.assert(
      fc.property(word, word, (a, b) => {
        const slips = new MisspeltWord(a).slipsTo(b);
        if (slips !== undefined) expect(slips).toBeLessThanOrEqual(2);
        if (a === b && a.length > 7) expect(slips).toBe(0);
      }),
    );
  });
});

describe("words of other languages", () => {
  it.each([
    ["wo wird das Passwort geprüft", "src/auth/password.py", ["Passwort=password", "geprüft=check verify"]],
    ["wie werden Sitzungen geöffnet", "src/auth/session.py", ["Sitzungen=session", "geöffnet=open"]],
    ["Datum formatieren", "src/utils/date.ts", ["Datum=date"]],
    ["密码在哪里验证", "src/auth/password.py", ["密码=password", "验证=validate verify"]],
    ["パスワードの検証", "src/auth/password.py", ["パスワード=password", "検証=validate verify"]],
    ["SessionStoreのセッションはどこで", "src/auth/session.py", ["セッション=session"]],
  ])("%s", async (query, path, expected) => {
    const { results, understood } = await ask(query);
    expect(shown(understood)).toEqual(expect.arrayContaining(expected));
    expect(results[0]?.path).toBe(path);
  });

  it("leaves out words of grammar, and says what it did not understand", async () => {
    const { weak, understood } = await ask("où est la mémoire libérée");
    expect(understood).toBeUndefined();
    expect(weak?.unknown).toEqual(["mémoire", "libérée"]);
  });

  it("finds comments in these languages too", async () => {
    const files = [
      { path: "a.c", language: "c", text: "// 释放内存的地方\nvoid f(void) {}\n" },
      { path: "b.c", language: "c", text: "/* Gibt den Speicher frei. */\nvoid g(void) {}\n" },
      { path: "c.c", language: "c", text: "/* nothing */\nvoid h(void) {}\n" },
    ];
    const [index, texts] = [await coldIndex(files), textsOf(files)];
    const first = async (query: string) => (await search(index, { query }, texts)).results[0]?.path;
    expect(await first("内存在哪里释放")).toBe("a.c");
    expect(await first("wo wird der Speicher freigegeben")).toBe("b.c");
  });

  it.each(["where is the plan for der certificate", "die on error", "locale de es fr", "use as a list"])(
    "%s is in English",
    async (query) => {
      expect((await ask(query)).understood ?? []).toEqual([]);
    },
  );

  it.each([
    ["Speicher", "memory"],
    ["gelöscht", "delete remove"],
    ["geloescht", "delete remove"],
    ["freigegeben", "free release"],
    ["Dateien", "file"],
    ["Speicherverwaltung", "memory manage"],
    ["Konfigurationsdatei", "config file"],
    ["Verbindungsabbruch", "connect abort"],
    ["middleware", undefined],
    ["x".repeat(100_000), undefined],
  ])("%s", (word, english) => {
    expect(translateGerman(word)).toBe(english);
  });

  it("a run is split without loss, in linear time", () => {
    const letter = fc.constantFrom(...Array.from("内存在哪里释放削除メモリのをされる鍵店"));
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 60 }), (letters) => {
        const run = letters.join("");
        expect(
          splitRun(run)
            .map(({ text }) => text)
            .join(""),
        ).toBe(run);
      }),
    );
    expect(splitRun("内".repeat(32_000))).toHaveLength(1);
  });
});

describe("any query", () => {
  const word = fc.oneof(
    fc.constantFrom("sesion", "Datei", "wird", "der", "内存", "解放", "où", "cart", '"', "path:", "retry-budget", "`"),
    fc.string({ unit: "binary", maxLength: 12 }),
  );
  it("is answered, with at most 32 words understood", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 24 }), async (words) => {
        const { understood } = await ask(words.join(" ")).catch((error: unknown) => {
          if (error instanceof Error && error.name === "GlobError") return { understood: [] };
          throw error;
        });
        expect((understood ?? []).length).toBeLessThanOrEqual(32);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    "sesion ".repeat(4_000),
    "内存".repeat(16_000),
    `${"a-".repeat(16_000)}b`,
    "ä".repeat(32_000),
    "ge".repeat(16_000),
    Array.from({ length: 16 }, (_, i) => `wrod${"x".repeat(i)}`).join(" "),
  ])("is answered however long it is", async (query) => {
    expect((await ask(query)).total).toBeGreaterThanOrEqual(0);
  });
});

describe("a repository of near names", () => {
  const base = "abcdefghijklmnopqrstuvwx";
  const names = function* (count: number): Generator<string> {
    for (let i = 1; i < 24; i++)
      for (let j = i + 1; j < 24; j++)
        for (const a of "aeiou")
          for (const b of "bcdfghjklm") {
            if (count-- === 0) return;
            yield base.slice(0, i) + a + base.slice(i + 1, j) + b + base.slice(j + 1);
          }
  };
  const read = async (count: number) => {
    const all = [...names(count)];
    const files = Array.from({ length: Math.ceil(count / 1_000) }, (_, i): TestFile => {
      const own = all.slice(i * 1_000, (i + 1) * 1_000);
      return { path: `${i}.ts`, language: "typescript", text: own.join("\n"), symbols: own.map(symbol) };
    });
    const compared = vi.spyOn(MisspeltWord.prototype, "slipsTo");
    // The first name without its last letter but one.
    const query = `${all[0]?.slice(0, 22)}x`;
    const { understood } = await search(await coldIndex(files), { query }, textsOf(files));
    const { length } = compared.mock.calls;
    compared.mockRestore();
    return { compared: length, understood: shown(understood) };
  };

  it("is compared as far as the limit goes; words near too many are left as written", async () => {
    const few = await read(2_000);
    expect(few.understood).toHaveLength(1);
    expect(few.compared).toBeGreaterThan(1_000);
    expect(await read(11_000)).toEqual({ compared: 0, understood: [] });
  });
});

describe("the vocabulary", () => {
  const file = (name: string): TestFile => ({
    path: `${name}.ts`,
    language: "typescript",
    text: `function ${name}() {}\n`,
    symbols: [symbol(name)],
  });
  const analysed = (names: readonly string[]) => names.map((name) => analyzeContent(contentOf(file(name))));

  it("has the words of names, in order, each once", async () => {
    const { segment } = await segmentOf(
      buildSegment(analysed(["parseHTTPHeaders", "read_headers2", "überParse", "x"])),
    );
    expect(await readWords(segment.words)).toEqual(["headers", "http", "parse", "read"]);
  });

  it("is the same for contents that are merged", async () => {
    const name = fc.stringMatching(/^[a-z]{1,12}([A-Z][a-z]{2,12}){0,3}$/);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 2, maxLength: 12 }), async (names) => {
        const half = Math.floor(names.length / 2);
        const parts = [names.slice(0, half), names.slice(half)].map((own) => buildSegment(analysed(own)));
        const segments = await Promise.all(parts.map(async (bytes) => (await segmentOf(bytes)).segment));
        expect(await mergeSegments(segments)).toEqual(buildSegment(analysed(names)));
      }),
      { numRuns: 30 },
    );
  });
});

function symbol(name: string) {
  return { name, startLine: 1, endLine: 1 };
}
