import { describe, expect, it } from "vitest";
import { ScriptConfigs } from "../../../src/engines/relations/script-configs.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { importersOf } from "../../../src/interface/questions/relations/importers.ts";
import { indexOf } from "./support.ts";

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);

/** Existing files that an import in `path` may mean; those that nothing states are marked with `?`. */
async function meant(files: Record<string, string>, path: string, module: string): Promise<string[]> {
  const paths = Object.keys(files).toSorted();
  const configs = new ScriptConfigs({
    paths,
    has: (own) => Object.hasOwn(files, own),
    textsOf: (wanted) => Promise.resolve(wanted.map((each) => files[each])),
  });
  const entries = await configs.entries(path, module);
  const first = new Map(entries.toReversed().map((each) => [each.path, each.isStated]));
  const existing = entries.filter((each) => paths.includes(each.path)).map((each) => each.path);
  return [...new Set(existing)].map((own) => (first.get(own) === true ? own : `${own}?`));
}

describe("packages of the repository", () => {
  const files = {
    "packages/core/package.json": json({
      name: "@acme/core",
      exports: {
        ".": { import: { types: "./dist/index.d.mts", default: "./dist/index.mjs" } },
        "./testing/*": "./dist/testing/*.js",
        "./raw": "./raw.js",
      },
    }),
    "packages/core/src/index.ts": "",
    "packages/core/src/testing/fake.ts": "",
    "packages/core/raw.ts": "",
    "packages/core/src/hidden.ts": "",
    "packages/old/package.json": json({ name: "old", main: "lib/main.js", types: "lib/main.d.ts" }),
    "packages/old/src/main.ts": "",
    "packages/old/src/inner.ts": "",
    "packages/plain/package.json": json({ name: "plain" }),
    "packages/plain/index.js": "",
    "app/a.ts": "",
  };
  const find = (module: string) => meant(files, "app/a.ts", module);

  it("are found by the files that their manifests name, or by the sources of these", async () => {
    expect(await find("@acme/core")).toEqual(["packages/core/src/index.ts?"]);
    expect(await find("@acme/core/raw")).toEqual(["packages/core/raw.ts"]);
    expect(await find("@acme/core/testing/fake")).toEqual(["packages/core/src/testing/fake.ts?"]);
    expect(await find("old")).toEqual(["packages/old/src/main.ts?"]);
    expect(await find("old/inner")).toEqual(["packages/old/src/inner.ts?"]);
    expect(await find("plain")).toEqual(["packages/plain/index.js?"]);
  });

  it("are not those of other names, of the runtime, or without a readable manifest", async () => {
    for (const module of ["@acme/other", "core", "node:fs", "./plain", "plainer"])
      expect(await find(module), module).toEqual([]);
    const broken = { "p/package.json": '{ "name": ', "p/index.ts": "", "q/package.json": "[]" };
    expect(await meant(broken, "a.ts", "p")).toEqual([]);
  });

  it("are none where two have the name, as fixtures may", async () => {
    const manifest = json({ name: "same" });
    const twice = { "a/package.json": manifest, "a/index.ts": "", "b/package.json": manifest, "b/index.ts": "" };
    expect(await meant(twice, "c.ts", "same")).toEqual([]);
  });
});

describe("aliases", () => {
  it("are those of the nearest configuration, with comments, by the longest pattern", async () => {
    const files = {
      "tsconfig.json": json({ compilerOptions: { paths: { "@/*": ["./root/*"] } } }),
      "app/tsconfig.json": `{
        // As frameworks make it.
        "compilerOptions": { "paths": { "@/*": ["./src/*"], "@/lib/*": ["./library/*"], "env": ["./env.ts"] }, },
      }`,
      "app/src/lib/x.ts": "",
      "app/library/x.ts": "",
      "app/src/y/index.tsx": "",
      "app/env.ts": "",
      "root/y.ts": "",
    };
    expect(await meant(files, "app/src/a.ts", "@/lib/x")).toEqual(["app/library/x.ts"]);
    expect(await meant(files, "app/src/a.ts", "@/y")).toEqual(["app/src/y/index.tsx"]);
    expect(await meant(files, "app/src/a.ts", "env")).toEqual(["app/env.ts"]);
    expect(await meant(files, "other/a.ts", "@/y")).toEqual(["root/y.ts"]);
  });

  it("come from a base, from parts that are referred to, and from `baseUrl`", async () => {
    const files = {
      "base.json": json({ compilerOptions: { paths: { "~/*": ["src/*"] } } }),
      "a/tsconfig.json": json({ extends: "../base.json" }),
      "b/tsconfig.json": json({ files: [], references: [{ path: "./tsconfig.app.json" }] }),
      "b/tsconfig.app.json": json({ compilerOptions: { paths: { "#/*": ["./own/*"] } } }),
      "c/jsconfig.json": json({ compilerOptions: { baseUrl: "js" } }),
      "src/x.ts": "",
      "b/own/x.ts": "",
      "c/js/parts/x.js": "",
    };
    expect(await meant(files, "a/a.ts", "~/x")).toEqual(["src/x.ts"]);
    expect(await meant(files, "b/a.ts", "#/x")).toEqual(["b/own/x.ts"]);
    expect(await meant(files, "c/a.js", "parts/x")).toEqual(["c/js/parts/x.js"]);
  });

  it("are the imports of the nearest manifest, or the sources of what these name", async () => {
    const files = {
      "package.json": json({ imports: { "#lib/*": "./root/*.ts" } }),
      "app/package.json": json({
        imports: {
          "#lib/*": "./lib/*.ts",
          "#built/*": { types: "./dist/*.d.ts", default: "./dist/*.js" },
          "#env": "./env.js",
        },
      }),
      "app/lib/x.ts": "",
      "app/src/y.ts": "",
      "app/env.ts": "",
      "root/z.ts": "",
    };
    expect(await meant(files, "app/src/a.ts", "#lib/x")).toEqual(["app/lib/x.ts"]);
    expect(await meant(files, "app/src/a.ts", "#built/y")).toEqual(["app/src/y.ts?"]);
    expect(await meant(files, "app/src/a.ts", "#env")).toEqual(["app/env.ts"]);
    expect(await meant(files, "app/src/a.ts", "#lib/z")).toEqual([]);
    expect(await meant(files, "other/a.ts", "#lib/z")).toEqual(["root/z.ts"]);
  });

  it("are the imports of Deno, whose packages have names as well", async () => {
    const files = {
      "deno.json": json({ imports: { "@/": "./src/", "std/": "https://deno.land/std/", utils: "./src/utils.ts" } }),
      "src/a/b.ts": "",
      "src/utils.ts": "",
      "assert/deno.json": json({ name: "@std/assert", exports: { ".": "./mod.ts", "./equals": "./equals.ts" } }),
      "assert/jsr.json": json({ name: "@std/assert", exports: "./mod.ts" }),
      "assert/mod.ts": "",
      "assert/equals.ts": "",
      "bytes/deno.json": json({ name: "@std/bytes", exports: "./mod.ts" }),
      "bytes/mod.ts": "",
    };
    expect(await meant(files, "src/x.ts", "@/a/b.ts")).toEqual(["src/a/b.ts"]);
    expect(await meant(files, "src/x.ts", "utils")).toEqual(["src/utils.ts"]);
    expect(await meant(files, "src/x.ts", "std/path")).toEqual([]);
    // A part of the workspace.
    expect(await meant(files, "assert/mod.ts", "utils")).toEqual(["src/utils.ts"]);
    expect(await meant(files, "bytes/mod.ts", "@std/assert")).toEqual(["assert/mod.ts"]);
    expect(await meant(files, "bytes/mod.ts", "@std/assert/equals")).toEqual(["assert/equals.ts"]);
    expect(await meant(files, "assert/mod.ts", "@std/bytes")).toEqual(["bytes/mod.ts"]);
  });

  it("are what frameworks call so, where no configuration says it", async () => {
    const files = {
      "sites/kit/package.json": "{}",
      "sites/kit/svelte.config.js": "",
      "sites/kit/src/lib/api/index.js": "",
      "sites/kit/src/lib/Card.svelte": "",
      "sites/vue/package.json": "{}",
      "sites/vue/src/views/Home.vue": "",
      "sites/vue/src/views/dates.ts": "",
      "sites/nuxt/package.json": "{}",
      "sites/nuxt/utils/dates.ts": "",
      "sites/plain/src/views/dates.ts": "",
      "src/lib/Card.svelte": "",
    };
    const fromKit = (module: string) => meant(files, "sites/kit/src/routes/a/+page.svelte", module);
    expect(await fromKit("$lib/api")).toEqual(["sites/kit/src/lib/api/index.js"]);
    expect(await fromKit("$lib/Card.svelte")).toEqual(["sites/kit/src/lib/Card.svelte"]);
    expect(await fromKit("$lib/none")).toEqual([]);
    // Without SvelteKit, and not in a folder around.
    expect(await meant(files, "sites/vue/src/a.ts", "$lib/Card.svelte")).toEqual(["src/lib/Card.svelte?"]);
    expect(await meant(files, "sites/vue/src/router/a.ts", "@/views/Home.vue")).toEqual([
      "sites/vue/src/views/Home.vue?",
    ]);
    expect(await meant(files, "sites/vue/src/router/a.ts", "#views/dates")).toEqual(["sites/vue/src/views/dates.ts?"]);
    expect(await meant(files, "sites/nuxt/pages/a.vue", "~/utils/dates")).toEqual(["sites/nuxt/utils/dates.ts?"]);
    expect(await meant(files, "sites/plain/src/a.ts", "@/views/dates")).toEqual([]);
    for (const module of ["@views/dates", "views/dates", "$views", "@/none"])
      expect(await meant(files, "sites/vue/src/a.ts", module), module).toEqual([]);
  });

  it("end where configurations extend each other, leave the repository or are deep", async () => {
    const files = {
      "tsconfig.json": json({ extends: ["./other.json", "../../above.json"] }),
      "other.json": json({ extends: "./tsconfig.json" }),
      "deep/tsconfig.json": `{"compilerOptions":{"paths":${"[".repeat(40_000)}}}`,
      "p/package.json": `{"name":"p","exports":${'{".":'.repeat(15_000)}`,
    };
    expect(await meant(files, "a.ts", "x")).toEqual([]);
    expect(await meant(files, "deep/a.ts", "p")).toEqual([]);
  });
});

it("callers, importers and definitions follow packages and aliases", async () => {
  const files = await indexOf({
    "packages/core/package.json": json({ name: "@acme/core", main: "dist/index.js" }),
    "packages/core/src/index.ts": 'export * from "./close.ts";\n',
    "packages/core/src/close.ts": "export function close() {}\n",
    "app/tsconfig.json": json({ compilerOptions: { paths: { "@/*": ["./src/*"] } } }),
    "app/src/open.ts": "export function open() {}\n",
    "app/src/main.ts":
      'import { close } from "@acme/core";\nimport { open } from "@/open";\nimport { open as other } from "elsewhere";\nopen();\nclose();\nother();\n',
  });
  const callersOf = async (name: string) => {
    const found = await new UsesFinder(files, "callers").find(await files.definitions(name), 1);
    return found.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`);
  };
  expect(await callersOf("open")).toEqual(["app/src/main.ts:4 certain", "app/src/main.ts:6 name"]);
  expect(await callersOf("close")).toEqual(["app/src/main.ts:5 likely"]);
  const importers = await importersOf(files, "packages/core/src/index.ts");
  expect(importers.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`)).toEqual([
    "app/src/main.ts:1 likely",
  ]);
});
