/** Requests and answers of `/overlays`. */
import * as z from "zod";
import { Uuid } from "./indexing.ts";
import { MAX_OVERLAY_FILES } from "./limits.ts";
import { nonEmptyText, repoText, text } from "./text.ts";

const MAX_PATH_CHARACTERS = 4_096;

const EditedFile = z.object({
  path: nonEmptyText
    .max(MAX_PATH_CHARACTERS)
    .refine(isPlainPath, "must be a path from the root of the repository, such as src/a.ts, without . and .. in it"),
  text: z
    .string()
    .refine((value) => value.isWellFormed(), "must be well-formed Unicode")
    .nullable()
    .describe("The whole text; null for a file that is deleted."),
});

function isPlainPath(path: string): boolean {
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

export const OverlayRequest = z
  .object({
    repo: repoText.optional().describe("Repository identity, such as `github.com/owner/name`."),
    workspaceId: text.max(100).optional().describe("UUID of the workspace, instead of `repo`."),
    base: nonEmptyText.max(500).describe("Indexed commit, or branch or tag, that the edits are relative to."),
    files: z
      .array(EditedFile)
      .max(MAX_OVERLAY_FILES)
      .refine((files) => new Set(files.map(({ path }) => path)).size === files.length, "must have each path once")
      .describe("Files that differ from the base."),
  })
  .meta({ id: "OverlayRequest" });
export type OverlayRequest = z.infer<typeof OverlayRequest>;

export const OverlayResponse = z
  .object({
    ok: z.literal(true),
    overlay: Uuid.describe("For the `overlay` of a question."),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: "OverlayResponse" });
export type OverlayResponse = z.infer<typeof OverlayResponse>;
