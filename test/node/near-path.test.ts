import { describe, expect, it } from "vitest";
import { nearPaths } from "../../src/lib/near-path.ts";

const PATHS = [
  "lib/view.js",
  "lib/application.js",
  "lib/router/index.js",
  "lib/router/layer.js",
  "test/view.test.js",
  "examples/view-locals/index.js",
  "src/Auth/Session.py",
  "docs/a.md",
  "src/jwk/index.ts",
  "src/basic-auth/index.ts",
];

describe("paths near one that is not there", () => {
  it.each([
    ["a transposition", "lib/veiw.js", "lib/view.js"],
    ["a missing letter", "lib/aplication.js", "lib/application.js"],
    ["a wrong letter", "lib/router/lazer.js", "lib/router/layer.js"],
    ["a wrong folder", "source/layer.js", "lib/router/layer.js"],
    ["no folder", "view.js", "lib/view.js"],
    ["a wrong extension", "lib/view.ts", "lib/view.js"],
    ["no extension", "lib/view", "lib/view.js"],
    ["a wrong case", "SRC/auth/session.PY", "src/Auth/Session.py"],
    ["a typo in a folder", "lib/ruoter/index.js", "lib/router/index.js"],
    ["a hyphen left out of a folder", "src/basicauth/index.ts", "src/basic-auth/index.ts"],
    ["a longer form of the name", "lib/viewing.js", "lib/view.js"],
    ["a transposition in another folder and with another extension", "app/laeyr.ts", "lib/router/layer.js"],
  ])("%s leads to the file", (_, asked, meant) => {
    expect(nearPaths(PATHS, asked)[0]).toBe(meant);
  });

  it.each(["lib", "lib/", "Lib"])("are the files of a folder: %s", (folder) => {
    expect(nearPaths(PATHS, folder)).toEqual([
      "lib/view.js",
      "lib/application.js",
      "lib/router/index.js",
      "lib/router/layer.js",
    ]);
  });

  it("are none if nothing is similar, and at most five", () => {
    expect(nearPaths(PATHS, "lib/zebra.js")).toEqual([]);
    expect(nearPaths(PATHS, "")).toEqual([]);
    const many = Array.from({ length: 5_000 }, (_, i) => `packages/p${i}/index.js`);
    expect(nearPaths([...many, "packages/p7/src/index.js"], "packages/p7/source/index.js")).toHaveLength(5);
    expect(nearPaths([...many, "packages/p7/src/index.js"], "packages/p7/source/index.js")[0]).toBe(
      "packages/p7/src/index.js",
    );
  });

  it("are found in bounded time among very many paths, however long and similar", () => {
    const similar = Array.from({ length: 110_000 }, (_, i) => `src/${"handler".repeat(9)}${i.toString(36)}.ts`);
    const startedAt = process.cpuUsage();
    nearPaths(similar, `src/${"handlre".repeat(600)}.ts`);
    nearPaths(similar, "src/handler1.ts");
    const { user } = process.cpuUsage(startedAt);
    expect(user / 1_000).toBeLessThan(8_000);
  });
});
