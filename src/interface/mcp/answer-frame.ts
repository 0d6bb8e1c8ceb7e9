/** What frames a tool's answer: its heading, and the room between that and the last line. */
import type { Answered, IndexInfo } from "../questions/code-index.ts";
import { describeIndex, tokensOf } from "./text.ts";

/** Tokens kept for the heading and the last line of an answer. */
export const FRAME_TOKENS = 100;

/** Indexes without an answer that are named. */
const MAX_NAMED = 10;

/** What an answer is written with. */
export interface AnswerOptions {
  maxTokens: number;
  nowMs: number;
}

/** Heading of an answer: the indexes that it comes from, and those that it leaves out. */
export function heading(
  indexes: readonly IndexInfo[],
  nowMs: number,
  leftOut: Answered<object>["leftOut"] = [],
): string {
  const missing = leftOut.slice(0, MAX_NAMED).map(({ repo, workspaceId }) => repo ?? workspaceId);
  if (leftOut.length > MAX_NAMED) missing.push(`${leftOut.length - MAX_NAMED} more`);
  const lines = indexes.map((index) => describeIndex(index, nowMs));
  if (missing.length > 0)
    lines.push(
      `Not searched, because their index is being rewritten: ${missing.join(", ")}. Ask again in ten seconds.`,
    );
  return lines.join("\n");
}

/** The repository before a path, where an answer has several. */
export function placeOf(indexes: readonly IndexInfo[], revision: number, path: string): string {
  const repo = indexes.length > 1 ? indexes[revision]?.name : undefined;
  return repo === undefined ? path : `${repo} ${path}`;
}
/** Tokens for what stands between the heading and the last line. */
export function budgetOf({ maxTokens }: AnswerOptions, head: string): number {
  return Math.max(0, maxTokens - FRAME_TOKENS - tokensOf(head));
}
