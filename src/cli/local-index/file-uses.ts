import { createHash } from "node:crypto";
import { nodeGrammars } from "../../engines/parsing/grammars-node.ts";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import { type CodeParser, createParser } from "../../engines/parsing/parser.ts";
import { readUses } from "../../engines/relations/read-uses.ts";
import { hasUses } from "../../engines/relations/languages.ts";
import { decodeUses, type StoredUses } from "../../engines/relations/stored-uses.ts";
import type { ParsedFile } from "../../engines/parsing/types.ts";
import { timeFor } from "../indexing/parse-file.ts";
import { packedGrammars } from "../indexing/parse-pool.ts";
import { TimeLimitError, withinTime } from "../machine/time-limit.ts";

/** Files whose uses are kept in memory; `codectx mcp` asks about the same ones again and again. */
const MAX_KEPT = 2_000;

let parser: Promise<CodeParser> | undefined;
const kept = new Map<string, StoredUses | undefined>();

/** The uses of a text; undefined if its language has no rules for them, or it cannot be parsed, or not in time. */
export async function usesOf(text: string, language: string): Promise<StoredUses | undefined> {
  if (!hasUses(language)) return undefined;
  const key = `${language} ${createHash("sha256").update(text).digest("base64")}`;
  if (kept.has(key)) return kept.get(key);
  const record = (await parsedInTime(Buffer.from(text), language))?.uses;
  const uses = record && decodeUses(record);
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? "");
  kept.set(key, uses);
  return uses;
}

/** The parsed file; undefined if it takes too long. A parse during which the process was paused is repeated once. */
async function parsedInTime(bytes: Uint8Array, language: LanguageId): Promise<ParsedFile | undefined> {
  for (let isRepeated = false; ; isRepeated = true) {
    parser ??= createParser(nodeGrammars(packedGrammars()), { readUses });
    const parse = await (await parser).prepare({ bytes, language });
    try {
      return withinTime(timeFor(bytes.byteLength), parse);
    } catch (error) {
      if (!(error instanceof TimeLimitError)) throw error;
      // The parser was interrupted, so that it cannot be used any more.
      parser = undefined;
      if (isRepeated || !error.wasPaused) return undefined;
    }
  }
}
