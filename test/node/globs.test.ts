import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Automaton, GlobLimitError } from "../../src/lib/glob-automaton.ts";
import { tokenize } from "../../src/lib/glob-tokens.ts";
import { compileGlobs, compileIgnoreFile, GlobError, typedGlob } from "../../src/lib/globs.ts";

const compile = (globs: string[], otherwise?: (path: string) => boolean) =>
  compileGlobs(globs, { field: "paths", ...(otherwise && { otherwise }) });
const matches = (glob: string, path: string) => compile([glob])(path);

describe("globs", () => {
  it.each([
    ["*.ts", ["a.ts", "b/c.ts", ".ts"], ["a.js", "a.tsx"]],
    ["src/*.ts", ["src/a.ts"], ["src/x/a.ts", "lib/src/a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["a.ts", "srcs/a.ts"]],
    ["src/**", ["src/a.ts", "src/x/.env"], ["src", "lib/src/a"]],
    ["**/test_?.py", ["test_a.py", "x/test_b.py"], ["test_ab.py", "test_.py", "x/test_/.py"]],
    ["a/**/b", ["a/b", "a/x/b", "a/x/y/b", "a/x/b/c"], ["ab", "a/xb", "a/bx"]],
    ["src", ["src", "src/a.ts", "lib/src/b.ts"], ["srcs/a.ts"]],
    ["src/", ["src/a.ts", "lib/src/b.ts"], ["src", "a/srcx.ts"]],
    ["/src", ["src/a.ts"], ["lib/src/b.ts"]],
    ["./src/*", ["src/a.ts"], ["lib/src/a.ts"]],
    ["*.{ts,js}", ["a.ts", "x/b.js"], ["a.py", "a.{ts,js}"]],
    ["{src,lib/{a,b}}/*.c", ["src/x.c", "lib/a/x.c", "lib/b/x.c"], ["lib/x.c", "lib/c/x.c"]],
    ["{,x}a", ["a", "xa"], ["ya"]],
    ["{a}", ["{a}"], ["a"]],
    ["{a,b", ["{a,b"], ["a", "b"]],
    ["[a-cx].c", ["a.c", "b.c", "x.c"], ["d.c", "-.c"]],
    ["[!a-c].c", ["d.c", "é.c"], ["a.c"]],
    ["[^a].c", ["b.c"], ["a.c"]],
    ["a[!x]b", ["a-b"], ["a/b", "axb"]],
    ["[]].c", ["].c"], ["a.c"]],
    ["[a", ["[a"], ["a"]],
    ["(a|b).ts", ["(a|b).ts"], ["a.ts", "b.ts"]],
    ["+(a).ts", ["+(a).ts"], ["a.ts", "aa.ts"]],
    ["a.b", ["a.b"], ["axb"]],
    [String.raw`\*.c`, ["*.c"], ["a.c"]],
    [String.raw`\!x`, ["!x"], ["x", "y"]],
    ["?.c", ["😀.c", "é.c"], ["ab.c"]],
  ])("%s", (glob, yes, no) => {
    expect([...yes, ...no].filter((path) => matches(glob, path))).toEqual(yes);
  });

  it("lets the last glob that matches decide", () => {
    const select = compile(["src", "!src/generated", "src/generated/keep.ts"]);
    expect(["src/a.ts", "src/generated/b.ts", "src/generated/keep.ts", "other"].filter(select)).toEqual([
      "src/a.ts",
      "src/generated/keep.ts",
    ]);
  });

  it("starts from everything, or from the given filter, if the first glob is negated", () => {
    expect(["a.ts", "docs/a.md"].filter(compile(["!docs"]))).toEqual(["a.ts"]);
    expect(["a.ts", "b.py", "docs/a.ts"].filter(compile(["!docs"], (path) => path.endsWith(".ts")))).toEqual(["a.ts"]);
    expect(["a.ts"].filter(compile([]))).toEqual([]);
  });

  it("agrees with a plain backtracking matcher", () => {
    const piece = fc.constantFrom(
      "a",
      "b",
      "/",
      "*",
      "**",
      "**/",
      "?",
      "[ab]",
      "[!a]",
      "{",
      "}",
      ",",
      "{a,b}",
      "{a/,*}",
      ".",
    );
    const glob = fc.array(piece, { minLength: 1, maxLength: 9 }).map((pieces) => pieces.join(""));
    const path = fc
      .array(fc.array(fc.constantFrom("a", "b", "c", ".", ","), { minLength: 1, maxLength: 3 }), {
        minLength: 1,
        maxLength: 4,
      })
      .map((segments) => segments.map((segment) => segment.join("")).join("/"));
    fc.assert(
      fc.property(glob, path, (pattern, text) => {
        fc.pre(!pattern.startsWith("!"));
        expect(matches(pattern, text)).toBe(reference(pattern, text));
      }),
      { numRuns: 3_000 },
    );
  });

  it("reads a list as its globs one by one, the last that matches first", () => {
    const piece = fc.constantFrom("a", "b", "/", "*", "**/", "?", "[ab]", "{a,b}", "{a/,*}");
    const glob = fc.tuple(fc.constantFrom("", "!"), fc.array(piece, { minLength: 1, maxLength: 6 }));
    const path = fc
      .array(fc.constantFrom("a", "b", "ab", "c"), { minLength: 1, maxLength: 4 })
      .map((segments) => segments.join("/"));
    fc.assert(
      fc.property(fc.array(glob, { minLength: 1, maxLength: 12 }), path, (list, text) => {
        const last = list.findLast(([, pieces]) => matches(pieces.join(""), text));
        const expected = last ? last[0] === "" : list[0]?.[0] === "!";
        expect(compile(list.map(([sign, pieces]) => sign + pieces.join("")))(text)).toBe(expected);
      }),
      { numRuns: 3_000 },
    );
  });

  const PATHS = Array.from({ length: 10_000 }, (_, i) => {
    const folder = `packages/part${i % 40}/src/${"a/".repeat(i % 7)}`;
    return `${folder}${i % 3 === 0 ? "a".repeat(40) : "session-store"}${i}.ts`;
  });
  const fifty = (glob: (i: number) => string) => Array.from({ length: 50 }, (_, i) => glob(i).slice(0, 500));

  it.each<[string, string[]]>([
    ["**/ × 2000", ["**/".repeat(2_000)]],
    ["**/ × 2000 x", [`${"**/".repeat(2_000)}x`]],
    ["**/* × 120", fifty((i) => `${"**/*".repeat(120)}${i}`)],
    ["**/?* × 95", fifty((i) => `${"**/?*".repeat(95)}${i}`)],
    ["*a × 248", fifty((i) => `${"*a".repeat(248)}${i}`)],
    ["**a? × 120", fifty((i) => `**a${"?".repeat(480)}${i}`)],
    ["classes", fifty((i) => `**/*a${"[a-z]".repeat(95)}${i}`)],
    ["long classes", fifty((i) => `**/*[${"aébñ".repeat(120)}]*${i}`)],
    ["{a,b,*,**/} × 40", fifty((i) => `${"{a,b,*,**/}".repeat(40)}${i}`)],
    ["{*,**}{*,?} × 40", fifty((i) => `${"{*,**}{*,?}".repeat(40)}${i}`)],
    ["nested", fifty((i) => `${"{".repeat(166)}a${",*}".repeat(166)}${i}`)],
    ["empty alternatives", fifty(() => `${"{,}".repeat(160)}b`)],
    ["[ × 500", fifty(() => "[".repeat(500))],
    ["{ × 500", fifty(() => "{".repeat(500))],
    ["excluded", fifty((i) => `!**/{*a,*b}${"*{a,?}".repeat(60)}${i}`)],
    ["{,x} × 120", fifty((i) => `**/${"{,x}*?".repeat(80)}${i}`)],
    ["100,000 characters", Array.from({ length: 200 }, (_, i) => `**/${"*?{a,b}".repeat(70)}${i}`.slice(0, 500))],
  ])("matches or refuses 10,000 paths in a bounded number of steps: %s", (_name, globs) => {
    const automaton = new Automaton();
    let steps = 0;
    try {
      for (const [index, glob] of globs.entries()) automaton.insert(tokenize(glob), index, false);
      for (const path of PATHS) automaton.lastMatch(path);
    } catch (error) {
      if (!(error instanceof GlobLimitError)) throw error;
      expect(error.message).toMatch(/^the globs (?:take too long to match|are too long together); use fewer/);
    } finally {
      steps = automaton.steps;
    }
    expect(steps).toBeLessThan(100_000);
    // The same through the list that requests use, for paths that are themselves hostile.
    const filter = () => [...PATHS.slice(0, 100), "a/".repeat(2_000), "a".repeat(4_000)].filter(compile(globs));
    try {
      expect(filter()).toBeInstanceOf(Array);
    } catch (error) {
      expect(error).toMatchObject({
        name: "GlobError",
        field: "paths",
        message: expect.stringMatching(/^paths: the /),
      });
    }
  });

  it("compiles many classes, and many unclosed brackets, in time that is linear in their number", () => {
    const classes = Array.from({ length: 25_000 }, (_, i) => `[${String.fromCodePoint(0x4e00 + i)}]`);
    const before = process.cpuUsage();
    compile(classes);
    expect(tokenize("[".repeat(200_000))).toHaveLength(200_000);
    // Tens of milliseconds; many seconds if it were quadratic.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });

  it("takes long lists of ordinary globs", () => {
    const words = ["src", "lib", "test", "api", "index", "server", "client", "auth", "session", "router"];
    const globs = [
      ...Array.from({ length: 1_000 }, (_, i) => `**/${words[i % 10]}${i}/**/*.{ts,js}`),
      ...Array.from({ length: 200 }, (_, i) => `packages/*/${words[i % 10]}*/**/*${words[i % 7]}?.ts`),
      ...PATHS.slice(0, 3_000),
      ...Array.from({ length: 500 }, (_, i) => `generated-${i}`),
      "!packages/part7",
      "!*0.ts",
    ];
    const selected = PATHS.filter(compile(globs));
    expect(selected).toEqual(
      PATHS.slice(0, 3_000).filter((path) => !path.startsWith("packages/part7/") && !path.endsWith("0.ts")),
    );
  });

  it.each([
    ["(a+)+b", "a".repeat(50_000)],
    ["*a*a*a*a*a*a*ab", "a".repeat(50_000)],
    [`${"*a".repeat(200)}b`, "a".repeat(10_000)],
    [`${"**/".repeat(160)}b`, `${"a/".repeat(5_000)}c`],
    [`${"{a,b}".repeat(100)}c`, "ab".repeat(5_000)],
    [`${"{".repeat(166)}a${",b}".repeat(166)}`, "b".repeat(10_000)],
    ["?".repeat(500), "a".repeat(10_000)],
  ])("takes bounded work for %.30s…", (glob, path) => {
    // Two of these paths are longer than a repository's may be, and take more steps than a list may.
    const isWrong = () => {
      try {
        return matches(glob, path);
      } catch (error) {
        return !(error instanceof GlobError);
      }
    };
    expect(isWrong()).toBe(false);
  });
});

/** Stands where alternatives were put together, so that a star on either side does not become a globstar. */
const SEAM = "|";

/** The documented meaning, tried one way after another: braces expanded, wildcards by backtracking. */
function reference(glob: string, path: string): boolean {
  const anchored = glob.replace(/^\.?\//, "");
  const body = anchored.replace(/\/+$/, "");
  const anywhere = !glob.startsWith("/") && !body.includes("/");
  const foldersOnly = anchored.endsWith("/");
  const folders = path.split("/").map((_, i, all) => all.slice(0, i + 1).join("/"));
  const candidates = foldersOnly ? folders.slice(0, -1) : folders;
  return expand(anywhere ? `**/${body}` : body).some((pattern) =>
    candidates.some((text) => matchAt(pattern, 0, text, 0)),
  );
}

function matchAt(glob: string, g: number, path: string, p: number): boolean {
  if (g === glob.length) return p === path.length;
  const rest = glob.slice(g);
  if (rest.startsWith(SEAM)) return matchAt(glob, g + 1, path, p);
  const stars = /^\*+/.exec(rest)?.[0].length ?? 0;
  if (stars > 1) {
    const slash = rest[stars] === "/";
    if (slash && (p === 0 || path[p - 1] === "/") && matchAt(glob, g + stars + 1, path, p)) return true;
    for (let end = p; end <= path.length; end++) if (matchAt(glob, g + stars, path, end)) return true;
    return false;
  }
  if (stars === 1) {
    for (let end = p; ; end++) {
      if (matchAt(glob, g + 1, path, end)) return true;
      if (end === path.length || path[end] === "/") return false;
    }
  }
  if (p === path.length) return false;
  const set = /^\[(!?)(.[^\]]*)\]/.exec(rest);
  if (set) {
    if (path[p] === "/" || (set[2] ?? "").includes(path[p] ?? "") === (set[1] === "!")) return false;
    return matchAt(glob, g + set[0].length, path, p + 1);
  }
  const matched = rest[0] === "?" ? path[p] !== "/" : rest[0] === path[p];
  return matched && matchAt(glob, g + 1, path, p + 1);
}

/** All readings of the braces that have a partner and a comma. */
function expand(glob: string): string[] {
  for (let open = glob.indexOf("{"); open >= 0; open = glob.indexOf("{", open + 1)) {
    const commas: number[] = [];
    let depth = 0;
    for (let i = open; i < glob.length; i++) {
      if (glob[i] === "{") depth++;
      else if (glob[i] === "," && depth === 1) commas.push(i);
      else if (glob[i] === "}" && --depth === 0) {
        if (commas.length === 0) break;
        const cuts = [open, ...commas, i];
        return cuts
          .slice(1)
          .flatMap((cut, k) =>
            expand([glob.slice(0, open), glob.slice((cuts[k] ?? 0) + 1, cut), glob.slice(i + 1)].join(SEAM)),
          );
      }
    }
  }
  return [glob];
}

describe("a path that a person types", () => {
  it.each([
    [
      "src/session",
      ["src/session.ts", "src/session/a.ts", "src/sessions.ts"],
      ["lib/src/session.ts", "src/x/session.ts"],
    ],
    ["src/session/", ["src/session/a.ts"], ["src/session.ts", "src/sessions/a.ts"]],
    ["sess", ["session.ts", "a/sessions/b.ts"], ["obsession.ts"]],
    ["src/*.ts", ["src/a.ts"], ["src/a.tsx"]],
    ["!src/a", ["src/a.ts"], ["src/a", "src/a/b.ts"]],
  ])("%s", (text, selected, dropped) => {
    expect([...selected, ...dropped].filter((path) => matches(typedGlob(text), path))).toEqual(selected);
  });
});

describe("compileIgnoreFile", () => {
  it("reads a line without folders as the glob that it is", () => {
    const glob = fc.stringMatching(/^[ab]?(?:\*|[ab?[\]-])[ab?[\]-]{0,6}\*?$/).filter((text) => !text.includes("**"));
    const name = fc.stringMatching(/^[ab[\]-]{1,8}$/);
    fc.assert(
      fc.property(glob, name, (line, path) => {
        expect(compileIgnoreFile(line, ".gitignore")(path, false) ?? false).toBe(matches(line, path));
      }),
      { numRuns: 2_000 },
    );
  });
});
