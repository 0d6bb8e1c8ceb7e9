/** What is the same of all components of Vue, Svelte and Astro. */
import type { LanguageId } from "./languages.ts";

/** Kind of symbol that a whole component is. */
export const COMPONENT = "component";
/** Line of a component's definition: its first one. */
export const COMPONENT_LINE = 1;

/** Languages of which each file is a component. */
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
