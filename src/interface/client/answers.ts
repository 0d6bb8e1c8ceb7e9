import type * as z from "zod";
import type * as contract from "../../contract/index.ts";

type Contract = typeof contract;

/** Names of the contract's schemas. */
export type AnswerName = {
  [Name in keyof Contract]: Contract[Name] extends z.ZodType ? Name : never;
}[keyof Contract];

export type Answer<Name extends AnswerName> = z.output<Contract[Name]>;

/** Loads the schemas on first use, to keep them out of a program's start-up. */
export function loadSchemas(): Promise<Contract> {
  return import("../../contract/index.ts");
}

/** Validates an answer: the parsed answer, or the first issue. */
export async function readAnswer<Name extends AnswerName>(
  name: Name,
  data: unknown,
): Promise<{ answer: Answer<Name> } | { issue: string }> {
  const schema: z.ZodType = (await loadSchemas())[name];
  const parsed = schema.safeParse(data);
  if (parsed.success) return { answer: parsed.data as Answer<Name> };
  const [issue] = parsed.error.issues;
  return { issue: issue ? `${issue.path.join(".") || "body"}: ${issue.message}` : "body: not valid" };
}
