/**
 * Files whose parse ends the isolate: one that does not end, or that takes more processor time than a Worker has. No error tells of it, so each
 * attempt after the first notes in the staging bucket what it is about to parse, and takes for text what one before it was parsing when it ended.
 */
import type { LanguageId } from "../../engines/parsing/languages.ts";
import type { CodeParser } from "../../engines/parsing/parser.ts";
import type { ParsedFile } from "../../engines/parsing/types.ts";
import { parsingPrefix } from "../runs/messages.ts";
import type { StepContext } from "./context.ts";

interface Content {
  id: string;
  bytes: Uint8Array;
  language: LanguageId;
}

type Step = Pick<StepContext, "run" | "attempt" | "staging" | "log">;

/** Returns what parses the contents of a shard, for an attempt of a run. */
export async function shardParser(
  { run, attempt, staging, log }: Step,
  parser: CodeParser,
): Promise<(content: Content) => Promise<ParsedFile>> {
  if (attempt === 1) return (content) => parser.parse(content);
  const suspects = new Set<string>();
  for (let earlier = 2; earlier < attempt; earlier++) {
    const prefix = parsingPrefix(run.runId, earlier);
    // As many as shards were processed at a time.
    const { objects } = await staging.list({ prefix });
    for (const { key } of objects) suspects.add(key.slice(prefix.length));
  }
  return async (content) => {
    if (suspects.has(content.id)) {
      log.warn("file_taken_for_text", { contentId: content.id, language: content.language });
      const parsed = await parser.parse({ bytes: content.bytes, language: "text" });
      return { ...parsed, outcome: "fallback", fallbackReason: "time" };
    }
    const note = `${parsingPrefix(run.runId, attempt)}${content.id}`;
    await staging.put(note, new Uint8Array());
    try {
      return await parser.parse(content);
    } finally {
      await staging.delete(note);
    }
  };
}
