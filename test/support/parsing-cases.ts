import { readdirSync, readFileSync } from "node:fs";
import { isLanguageId } from "../../src/engines/parsing/detect.ts";
import type { LanguageId } from "../../src/engines/parsing/languages.ts";

/** A file of `test/node/parsing/cases`: a source, a line of `=====`, and one line for each symbol expected, see `summarize`. */
export interface ParsingCase {
  file: string;
  language: LanguageId;
  bytes: Uint8Array;
  source: string;
  expected: string[];
}

const folder = new URL("../node/parsing/cases/", import.meta.url);

/** The cases, by the names of their files: `python.txt`, `python-more.txt`. */
export function parsingCases(): ParsingCase[] {
  return readdirSync(folder)
    .sort()
    .map((file) => {
      const name = file.replace(/\.txt$/, "");
      const language = isLanguageId(name) ? name : name.replace(/-\w+$/, "");
      if (!isLanguageId(language)) throw new Error(`${file} does not begin with a language.`);
      const bytes = new Uint8Array(readFileSync(new URL(file, folder)));
      const [body = "", expected = ""] = new TextDecoder().decode(bytes).split("\n=====\n");
      return { file, language, bytes, source: `${body}\n`, expected: expected.trimEnd().split("\n") };
    });
}
