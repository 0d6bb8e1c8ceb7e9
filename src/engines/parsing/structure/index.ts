import type { LanguageId } from "../languages.ts";
import type { SourceText } from "../source-text.ts";
import type { Outline } from "../types.ts";
import { jsonOutline, tomlOutline, yamlOutline } from "./keyed.ts";
import { markdownOutline } from "./markdown.ts";
import { proseOutline } from "./prose.ts";
import { dockerfileOutline, makefileOutline } from "./scripts.ts";
import { sqlOutline } from "./sql.ts";
import { cssOutline, htmlOutline } from "./sheets.ts";
import { templateOutline } from "./templates.ts";

const OUTLINES: Partial<Record<LanguageId, (source: SourceText) => Outline>> = {
  markdown: markdownOutline,
  yaml: yamlOutline,
  toml: tomlOutline,
  json: jsonOutline,
  html: htmlOutline,
  css: cssOutline,
  sql: sqlOutline,
  dockerfile: dockerfileOutline,
  makefile: makefileOutline,
  template: templateOutline,
};

/** Outline of a language that has sections rather than syntax. */
export function structureOutline(language: LanguageId, source: SourceText): Outline {
  return OUTLINES[language]?.(source) ?? proseOutline(language, source);
}
