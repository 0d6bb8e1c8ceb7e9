/** Parts that several answers share. */
import * as z from "zod";

export const Line = z.int().min(1);

/** The workspace that a row of an answer comes from, where several are asked. */
export const Owner = { repo: z.string().nullable(), workspaceId: z.uuid() };
/** The repository of a part of an answer, where it is another one than that of the whole. */
export const OtherOwner = {
  repo: Owner.repo.optional().describe("Only where it is another repository."),
  workspaceId: Owner.workspaceId.optional().describe("With `repo`."),
};
