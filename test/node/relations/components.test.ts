import { describe, expect, it } from "vitest";
import { UsesIndex } from "../../../src/engines/relations/uses-index.ts";
import { findSymbols, outlineOf } from "../../../src/engines/search/lookups.ts";
import { CalleesFinder } from "../../../src/interface/questions/relations/callees.ts";
import { wordsOf } from "../../../src/interface/questions/relations/line-words.ts";
import { callersOf, openedOf } from "./support.ts";

const sfc = (template: string, script = ""): string =>
  `<template>\n${template}\n</template>\n<script setup>\n${script}\n</script>\n`;

const CARD = sfc("<b/>");

describe("a component has the name of its file", () => {
  it.each([
    ["Card.vue", "Card"],
    ["ui/user-card.vue", "UserCard"],
    ["ui/user-card.client.vue", "UserCard"],
    ["Card.svelte", "Card"],
    ["Card.astro", "Card"],
  ])("%s", async (path, name) => {
    const { index, texts } = await openedOf({ [path]: "<b>\n</b>\n" });
    const { symbols } = await findSymbols(index, { name }, texts);
    expect(symbols).toMatchObject([{ path, name, kind: "component", signature: name, startLine: 1, endLine: 2 }]);
    expect((await outlineOf(index, 0, path, texts))?.symbols).toEqual([]);
  });

  it("which is looked up as those of other definitions are", async () => {
    const { index, texts } = await openedOf({ "UserCard.vue": CARD, "user.ts": "export class User {}\n" });
    const namesOf = async (name: string, kind?: string) => {
      const { symbols } = await findSymbols(index, { name, ...(kind !== undefined && { kind }) }, texts);
      return symbols.map((symbol) => symbol.name);
    };
    expect(await namesOf("UserCa")).toEqual(["UserCard"]);
    expect(await namesOf("UserCrad")).toEqual(["UserCard"]);
    expect(await namesOf("UserCard", "class")).toEqual([]);
  });

  it.each(["+page.svelte", "[id].vue", "Card.stories.svelte", "Card.ts"])("but not %s", async (path) => {
    const { index, texts } = await openedOf({ [path]: "" });
    expect((await findSymbols(index, { name: "Card", kind: "component" }, texts)).symbols).toEqual([]);
  });
});

describe("callers of a component", () => {
  it.each([
    ["tags in Vue", { "a.vue": sfc("<p/>\n<Card :a='b'/>", 'import Card from "./Card.vue";') }, ["a.vue:3 certain"]],
    ["with an alias", { "a.vue": sfc("<Box></Box>", 'import Box from "./Card.vue";') }, ["a.vue:2 certain"]],
    [
      "without an import",
      { "a.vue": sfc("<Card/>"), "b.vue": sfc("<Cards/>"), "c.vue": sfc("<!-- <Card/> -->\n<card/>") },
      ["a.vue:2 likely"],
    ],
    [
      "dynamic ones",
      { "a.vue": sfc('<component :is="Card"/>', 'import Card from "./Card.vue";') },
      ["a.vue:2 certain"],
    ],
    [
      "of options",
      {
        "a.vue":
          '<template>\n<Card/>\n</template>\n<script>\nimport Card from "./Card.vue";\nexport default { components: { Card } };\n</script>\n',
      },
      ["a.vue:2 certain", "a.vue:6 certain"],
    ],
    [
      "of routes",
      { "a.ts": 'import Card from "./Card.vue";\nexport const r = [{ component: Card }];\n' },
      ["a.ts:2 certain"],
    ],
    ["in JSX", { "a.tsx": 'import Card from "./Card.vue";\nexport const a = () => <Card />;\n' }, ["a.tsx:2 certain"]],
  ])("are %s", async (_, files, callers) => {
    expect(await callersOf({ "Card.vue": CARD, ...files }, "Card")).toEqual(callers);
  });

  it("write its name with hyphens", async () => {
    const files = {
      "UserCard.vue": CARD,
      "a.vue": sfc("<user-card />"),
      "b.vue": sfc("<user-card\n/>", 'import UserCard from "./UserCard.vue";'),
      "c.vue": sfc("<user-card>", 'import userCard from "./UserCard.vue";'),
    };
    expect(await callersOf(files, "UserCard")).toEqual(["a.vue:2 likely", "b.vue:2 certain", "c.vue:2 certain"]);
  });

  it("are likely only if no other component has the name", async () => {
    const files = { "a/Card.vue": CARD, "b/Card.vue": CARD, "a.vue": sfc("<Card/>") };
    expect(await callersOf(files, "Card")).toEqual(["a.vue:2 name"]);
  });

  it("are tags in Svelte and Astro, through what a folder exports", async () => {
    const files = {
      "card/card-root.svelte": "<b/>",
      "card/index.ts": 'import Root from "./card-root.svelte";\nexport { Root, Root as Card };\n',
      "card/again.ts": 'export { default as Again } from "./card-root.svelte";\n',
      "a.svelte": '<script>\nimport * as Card from "./card";\n</script>\n<Card.Root>{#if x}<b/>{/if}</Card.Root>\n',
      "b.svelte": '<script>\nimport { Card } from "./card";\n</script>\n<Card/><svelte:component this={Card}/>\n',
      "c.astro": '---\nimport { Again } from "./card/again";\n---\n<Again>\n{x && <Again/>}</Again>\n',
    };
    expect(await callersOf(files, "CardRoot")).toEqual([
      "a.svelte:4 certain",
      "b.svelte:4 certain",
      "c.astro:4 certain",
      "c.astro:5 certain",
    ]);
  });
});

describe("functions that markup uses with an element", () => {
  it.each(["use:save", "transition:save|local", "in:save={{ a: 1 }}", "out:save", "animate:save"])(
    "%s",
    async (used) => {
      const files = {
        "util.ts": "export function save() {}\n",
        "a.svelte": `<script>import { save } from "./util";</script>\n<p ${used}>x</p>\n`,
      };
      expect(await callersOf(files, "save")).toEqual(["a.svelte:2 certain"]);
    },
  );
});

describe("in a project of Nuxt", () => {
  const NUXT = { "nuxt.config.ts": "export default defineNuxtConfig({});\n" };

  it("components may begin with their folders", async () => {
    const files = {
      ...NUXT,
      "components/base/form/Button.vue": CARD,
      "components/base/form/FormInput.vue": CARD,
      "pages/a.vue": sfc("<BaseFormButton/>\n<base-form-input/>\n<Button/>"),
    };
    expect(await callersOf(files, "BaseFormButton")).toEqual(["pages/a.vue:2 likely", "pages/a.vue:4 likely"]);
    expect(await callersOf(files, "FormInput")).toEqual(["pages/a.vue:3 likely"]);
  });

  it.each([
    ["composables/shop.ts", ["pages/a.vue:2 likely", "pages/a.vue:5 likely", "server/b.ts:1 likely"]],
    ["app/utils/shop.ts", ["pages/a.vue:2 likely", "pages/a.vue:5 likely", "server/b.ts:1 likely"]],
    ["lib/shop.ts", ["pages/a.vue:2 name", "pages/a.vue:5 name", "server/b.ts:1 name"]],
  ])("what %s exports needs no import", async (path, callers) => {
    const files = {
      [path]: "export function price() {}\n",
      "pages/a.vue": sfc("{{ price(1) }}", "price(2);"),
      "server/b.ts": "export const b = () => price(3);\n",
    };
    expect(await callersOf({ ...NUXT, ...files }, "price")).toEqual(callers);
    const names = callers.map((caller) => caller.replace("likely", "name"));
    expect(await callersOf(files, "price")).toEqual(names);
  });
});

it("tags with hyphens are names of their line", () => {
  expect(wordsOf("<p a-b><user-card/></user-card>").map(({ name, start }) => `${name} ${start}`)).toEqual([
    "p 1",
    "a 3",
    "b 5",
    "UserCard 8",
    "UserCard 21",
  ]);
});

it("what a component calls is in its script and its markup", async () => {
  const { index, texts } = await openedOf({
    "Card.vue": CARD,
    "util.ts": "export function save() {}\n",
    "Page.vue": sfc("<Card/>", 'import Card from "./Card.vue";\nimport { save } from "./util";\nsave();'),
  });
  const files = new UsesIndex(index, texts);
  const pages = (await files.definitions("Page")).map((page) => Object.assign({ language: "vue" }, page));
  const found = await new CalleesFinder(files).find(pages, 1);
  expect(found.map(({ line, target }) => `${line} ${target?.path}`)).toEqual(["2 Card.vue", "7 util.ts"]);
});
