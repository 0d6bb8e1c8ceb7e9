/** What components of Vue, Svelte, Astro and Razor have in common. */
import type { LanguageId } from "./languages.ts";

/** Kind of symbol that a whole component is. */
export const COMPONENT = "component";
/** Line of a component's definition: its first one. */
export const COMPONENT_LINE = 1;

/** Names of the configuration of a project of Nuxt. */
export const NUXT_CONFIGS = ["nuxt.config.ts", "nuxt.config.js", "nuxt.config.mjs"];

/** Languages in which each file is a component, and its script one of TypeScript or JavaScript. */
export type ComponentLanguage = "vue" | "svelte" | "astro";

/** Whether the files of a language are components. */
export const isComponentLanguage = (language: LanguageId): language is ComponentLanguage =>
  language === "vue" || language === "svelte" || language === "astro";

/** A name as scripts write that of a component: `account-card` is `AccountCard`. A name in that form stays as it is. */
export const pascalCase = (name: string): string =>
  name.replace(/(?:^|-)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The reverse of `pascalCase`: `AccountCard` is `account-card`. */
export const hyphenated = (name: string): string =>
  name.replace(/(?<=[a-z0-9])[A-Z]|(?<=.)[A-Z](?=[a-z])/g, (letter) => `-${letter}`).toLowerCase();
