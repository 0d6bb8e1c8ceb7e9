import type * as z from "zod";
import type * as contract from "../contract/index.ts";
import {
  plainEmbedCheckResponse,
  plainEmbedResponse,
  plainProbeResponse,
  plainPullResponse,
} from "../contract/plain.ts";

type Contract = typeof contract;

/** Schemas of the contract, by name. */
export type AnswerName = {
  [Name in keyof Contract]: Contract[Name] extends z.ZodType ? Name : never;
}[keyof Contract];

export type Answer<Name extends AnswerName> = z.output<Contract[Name]>;

/** The answers that are asked for most, without their schemas. */
const PLAIN: { readonly [Name in AnswerName]?: (data: unknown) => Answer<Name> | undefined } = {
  EmbedCheckResponse: plainEmbedCheckResponse,
  EmbedResponse: plainEmbedResponse,
  ProbeResponse: plainProbeResponse,
  PullResponse: plainPullResponse,
};

/** Checks an answer against the contract: what it says, or where and why it is not what it has to be. */
export async function readAnswer<Name extends AnswerName>(
  name: Name,
  data: unknown,
): Promise<{ answer: Answer<Name> } | { issue: string }> {
  const plain = PLAIN[name]?.(data);
  if (plain !== undefined) return { answer: plain };
  // Loaded where they are needed: a start without them takes half the time.
  const schema: z.ZodType = (await import("../contract/index.ts"))[name];
  const parsed = schema.safeParse(data);
  if (parsed.success) return { answer: parsed.data as Answer<Name> };
  const [issue] = parsed.error.issues;
  return { issue: issue ? `${issue.path.join(".") || "body"}: ${issue.message}` : "body: not as agreed" };
}
