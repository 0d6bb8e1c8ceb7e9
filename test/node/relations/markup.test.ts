import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asStatements, readMarkup } from "../../../src/engines/parsing/markup.ts";
import { callsIn } from "./support.ts";

const UTIL = "export function price(cents: number) {}\nexport function save() {}\n";

const callsInVue = (template: string, script = 'import { price, save } from "./util";') =>
  callsIn(
    { "util.ts": UTIL, "a.vue": `<template>\n${template}\n</template>\n<script setup>\n${script}\n</script>\n` },
    "a.vue",
  );

const callsInSvelte = (markup: string, script = 'import { price, save } from "./util";') =>
  callsIn({ "util.ts": UTIL, "a.svelte": `<script>${script}</script>\n${markup}\n` }, "a.svelte");

const callsInAstro = (markup: string, script = 'import { price, save } from "./util";') =>
  callsIn({ "util.ts": UTIL, "a.astro": `---\n${script}\n---\n${markup}\n` }, "a.astro");

describe("calls in the markup of a component", () => {
  it.each([
    ["expressions", "<p a={price(1)}>{save()}</p>", ["price@4 → util.ts:1", "save@4 → util.ts:2"]],
    [
      "elements in expressions, and apostrophes in their texts",
      "{items.map((item) => (\n  <li>Don't {price(item)}</li>\n))}<p>{save()}</p>",
      ["map@4 → unknown", "price@5 → util.ts:1", "save@6 → util.ts:2"],
    ],
    ["scripts of the page", "<script>save();</script>{price(1)}", ["save@4 → util.ts:2", "price@4 → util.ts:1"]],
    ["no comments or styles", "<!-- {save()} --><style>a { b: save() }</style>", []],
  ])("of Astro: %s", async (_, markup, calls) => {
    expect(await callsInAstro(markup)).toEqual(calls);
  });

  it("and in the script above it", async () => {
    const script = 'import { price } from "./util";\nconst cents = price(1);\nconst twice = () => price(2);';
    expect(await callsInAstro("<p>{twice()}</p>", script)).toEqual([
      "price@3 → util.ts:1",
      "price@4 → util.ts:1",
      "twice@6 → a.astro:4",
    ]);
  });

  it.each([
    ["text", "<p>{{ price(item.cents) }} {{ save() }}</p>", ["price@2 → util.ts:1", "save@2 → util.ts:2"]],
    [
      "directives",
      '<p v-if="price(1)"\n  :class="{ a: price(2), b: save() }"/>',
      ["price@2 → util.ts:1", "price@3 → util.ts:1", "save@3 → util.ts:2"],
    ],
    [
      "statements and functions of events",
      '<b @click="save(); a = price(1)" @x="() => save()"/>',
      ["save@2 → util.ts:2", "price@2 → util.ts:1", "save@2 → util.ts:2"],
    ],
    [
      "names of functions that events call",
      '<b @click="save" v-on:x.once="price" :y="save">x</b>',
      ["save@2 → util.ts:2", "price@2 → util.ts:1"],
    ],
    ["what a loop goes through", '<li v-for="(a, i) in price(1)">{{ a.b }}</li>', ["price@2 → util.ts:1"]],
    [
      "no comments, strings or attributes",
      '<!-- {{ price(1) }} --><p title="price(1)">price(1) {{ "save()" }}</p>',
      [],
    ],
  ])("of Vue: %s", async (_, template, calls) => {
    expect(await callsInVue(template)).toEqual(calls);
  });

  it.each([
    [
      "expressions",
      "<p a={price(1)} b='x {save()}'>{price(`}${save()}`)}</p>",
      ["price@2 → util.ts:1", "save@2 → util.ts:2", "price@2 → util.ts:1", "save@2 → util.ts:2"],
    ],
    [
      "objects and functions",
      "<p a={{ b: price(1), c: save() }} d={() => save()}/>",
      ["price@2 → util.ts:1", "save@2 → util.ts:2", "save@2 → util.ts:2"],
    ],
    [
      "names of functions that events call",
      "<b on:click|once={save} onclick={price} y={save}/><i on:x='{save}'>a</i>",
      ["save@2 → util.ts:2", "price@2 → util.ts:1", "save@2 → util.ts:2"],
    ],
    [
      "blocks",
      "{#if price(1)}\n{:else if save()}\n{/if}{#await save() then}{/await}",
      ["price@2 → util.ts:1", "save@3 → util.ts:2", "save@4 → util.ts:2"],
    ],
    [
      "loops and their keys",
      "{#each save() as { a, b }, i (price(a.c))}{a}{/each}",
      ["save@2 → util.ts:2", "price@2 → util.ts:1"],
    ],
    [
      "tags",
      "{@html price(1)}{@const a = save()}{@render price()}",
      ["price@2 → util.ts:1", "save@2 → util.ts:2", "price@2 → util.ts:1"],
    ],
    [
      "no comments, styles or strings",
      "<!-- {price(1)} -->{/* save() */ '}'}{\"price()\"}<style>a { b: price(1) }</style>",
      [],
    ],
  ])("of Svelte: %s", async (_, markup, calls) => {
    expect(await callsInSvelte(markup)).toEqual(calls);
  });

  it("are not sure where the markup binds the name as well", async () => {
    for (const template of ['<li v-for="save in x">{{ save() }}</li>', '<a #row="{ save }">{{ save() }}</a>'])
      expect(await callsInVue(template)).toEqual(["save@2 → unknown"]);
    for (const markup of [
      "{#each x as save}{save()}{/each}",
      "{#await x then save}{save()}{/await}",
      "{#await x}{:then save}{save()}{/await}",
      "{#snippet save(a)}{save()}{/snippet}",
      "{@const save = 1}{save()}",
      "<a let:save>{save()}</a>",
    ])
      expect(await callsInSvelte(markup), markup).toEqual(["save@2 → unknown"]);
  });

  it("may be of the component's options", async () => {
    const script = "export default { methods: { store() {} } };";
    const files = { "a.vue": `<template>\n  <b @click="store" />\n</template>\n<script>\n${script}\n</script>\n` };
    expect(await callsIn(files, "a.vue")).toEqual(["store@2 → unknown"]);
  });
});

it("keeps every line and place of the markup's code", () => {
  const piece = fc.constantFrom(
    "{",
    "}",
    "{{",
    "}}",
    "a(b)",
    "<a ",
    ">",
    '"',
    "'",
    "`",
    "${",
    "\n",
    " @x=",
    " on:x=",
    "#each ",
    " as ",
    "<!--",
    "-->",
    "(",
    ")",
    "\\",
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }),
      fc.constantFrom("vue" as const, "svelte" as const),
      (pieces, language) => {
        const text = pieces.join("");
        const units = Uint16Array.from(text, (character) => character.charCodeAt(0));
        const markup = readMarkup(language, text, []);
        const statements = String.fromCharCode(...asStatements(units, markup.code));
        expect(statements).toHaveLength(text.length);
        expect([...statements.matchAll(/\n/g)].map(({ index }) => index)).toEqual(
          [...text.matchAll(/\n/g)].map(({ index }) => index),
        );
        for (const { start, end } of markup.code) expect(statements.slice(start, end)).toBe(text.slice(start, end));
      },
    ),
  );
});
