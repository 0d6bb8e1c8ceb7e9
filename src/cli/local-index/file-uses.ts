import { createHash } from "node:crypto";
import { nodeGrammars } from "../../engines/parsing/grammars-node.ts";
import { type CodeParser, createParser } from "../../engines/parsing/parser.ts";
import { readUses } from "../../engines/relations/read-uses.ts";
import { hasUses } from "../../engines/relations/languages.ts";
import { decodeUses, type StoredUses } from "../../engines/relations/stored-uses.ts";
import { packedGrammars } from "../indexing/parse-pool.ts";

/** Files whose uses are kept in memory; `codectx mcp` asks about the same ones again and again. */
const MAX_KEPT = 2_000;

let parser: Promise<CodeParser> | undefined;
const kept = new Map<string, StoredUses | undefined>();

/** The uses of a text; undefined if its language has no rules for them, or it cannot be parsed. */
export async function usesOf(text: string, language: string): Promise<StoredUses | undefined> {
  if (!hasUses(language)) return undefined;
  const key = `${language} ${createHash("sha256").update(text).digest("base64")}`;
  if (kept.has(key)) return kept.get(key);
  parser ??= createParser(nodeGrammars(packedGrammars()), { readUses });
  const { uses: record } = await (await parser).parse({ bytes: Buffer.from(text), language });
  const uses = record && decodeUses(record);
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? "");
  kept.set(key, uses);
  return uses;
}
