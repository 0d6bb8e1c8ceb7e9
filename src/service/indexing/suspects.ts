/**
 * Files whose parse ends the isolate: one that does not end, or that takes more processor time than a Worker has. No error tells of it, so
 * attempts after the first note in the staging bucket what they are about to parse: groups of files, and each file of a group that an
 * earlier attempt had noted when it ended. A file that was noted by itself is text from then on. An attempt can end for other reasons, such
 * as a deployment, so that a file is text only after two attempts have ended at it; its text is shared with later runs.
 */
import type { LanguageId } from "../../engines/parsing/languages.ts";
import type { CodeParser } from "../../engines/parsing/parser.ts";
import type { ParsedFile } from "../../engines/parsing/types.ts";
import { parsingPrefix } from "../runs/messages.ts";
import type { StepContext } from "./context.ts";
import { getBytes } from "./staging.ts";

interface Content {
  id: string;
  bytes: Uint8Array;
  language: LanguageId;
}

type Step = Pick<StepContext, "run" | "attempt" | "staging" | "log">;

/** Parses the contents of a group. */
export interface GroupParser {
  parse: (content: Content) => Promise<ParsedFile>;
  /** Removes the group's note. Called when the group is done or has failed. */
  end: () => Promise<void>;
}

/** Returns what parses the contents with these ids, for an attempt of a run. */
export async function groupParser(step: Step, parser: CodeParser, ids: readonly string[]): Promise<GroupParser> {
  const { run, attempt, staging, log } = step;
  if (attempt === 1 || ids.length === 0) return { parse: (content) => parser.parse(content), end: async () => {} };
  const { files, groups } = await earlierNotes(step);
  const prefix = parsingPrefix(run.runId, attempt);
  const rest = ids.filter((id) => !files.has(id) && !groups.has(id));
  const groupNote = rest.length > 0 ? `${prefix}groups/${rest[0]}` : undefined;
  if (groupNote !== undefined) await staging.put(groupNote, new TextEncoder().encode(rest.join("\n")));
  /** What was parsed is worth more than a note that stays; the error of a parse as well. */
  const remove = async (note: string) => {
    try {
      await staging.delete(note);
    } catch (error) {
      log.error("note_not_removed", error, { runId: run.runId, key: note });
    }
  };
  return {
    async parse(content) {
      if (files.has(content.id)) {
        log.warn("file_taken_for_text", { contentId: content.id, language: content.language });
        const parsed = await parser.parse({ bytes: content.bytes, language: "text" });
        return { ...parsed, outcome: "fallback", fallbackReason: "time" };
      }
      if (!groups.has(content.id)) return parser.parse(content);
      const note = `${prefix}files/${content.id}`;
      await staging.put(note, new Uint8Array());
      try {
        return await parser.parse(content);
      } finally {
        await remove(note);
      }
    },
    async end() {
      if (groupNote !== undefined) await remove(groupNote);
    },
  };
}

/** Ids of the files that earlier attempts had noted when they ended: by themselves, and in groups. */
async function earlierNotes({ run, attempt, staging }: Step): Promise<{ files: Set<string>; groups: Set<string> }> {
  const files = new Set<string>();
  const groups = new Set<string>();
  for (let earlier = 2; earlier < attempt; earlier++) {
    const prefix = parsingPrefix(run.runId, earlier);
    // As many as groups were parsed at a time.
    const { objects } = await staging.list({ prefix });
    for (const { key } of objects) {
      const [kind, id = ""] = key.slice(prefix.length).split("/");
      if (kind === "files") files.add(id);
      else for (const each of decode(await getBytes(staging, key))) groups.add(each);
    }
  }
  return { files, groups };
}

/** The ids of a group's note; none if it has been removed since it was listed. */
const decode = (note: Uint8Array | undefined): string[] => (note ? new TextDecoder().decode(note).split("\n") : []);
