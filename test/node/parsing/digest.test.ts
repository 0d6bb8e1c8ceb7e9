import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { isLanguageId } from "../../../src/parsing/index.ts";
import { CASES_DIGEST } from "./digest.ts";
import { sharedParser } from "./support.ts";

it("the parse of the cases is the one that PARSER_VERSION stands for", async () => {
  const parser = await sharedParser();
  const folder = new URL("cases/", import.meta.url);
  const digest = createHash("sha256");
  for (const file of readdirSync(folder).sort()) {
    const language = file.replace(/(?:-\w+)?\.txt$/, "");
    if (!isLanguageId(language)) throw new Error(`${file} does not begin with a language.`);
    const bytes = new Uint8Array(readFileSync(new URL(file, folder)));
    const { text: _text, ...result } = await parser.parse({ bytes, language });
    digest.update(JSON.stringify(result));
  }
  expect(digest.digest("hex")).toBe(CASES_DIGEST);
});
