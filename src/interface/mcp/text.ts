/** Plain text for agents: numbered lines, headings, and answers that are shortened step by step until they fit a budget. */
import { type IndexInfo, submodulesText, unreadText } from "../questions/code-index.ts";
import { numberOf } from "../../lib/display.ts";

/** As the service estimates tokens: four characters each. */
const CHARACTERS_PER_TOKEN = 4;
const MAX_LINE_CHARACTERS = 400;
const SHORT_SHA = 10;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Tokens of a text, as the budget counts them. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/** `github.com/acme/shop@1a2b3c4d5e, indexed 5 minutes ago`; an index of a work tree and a stale one are marked as such. */
export function describeIndex(index: IndexInfo, nowMs: number): string {
  const commit = index.gitSha === null ? "" : `@${index.gitSha.slice(0, SHORT_SHA)}`;
  const edits = index.isWorkTree ? ` (work tree${index.stale === undefined ? ", edits included" : ""})` : "";
  const indexed = `indexed ${ageOf(nowMs - index.indexedAtMs)}`;
  const state = index.stale === undefined ? indexed : `STALE: ${indexed}, later edits are missing (${index.stale})`;
  const unread = index.unread && index.unread.length > 0 ? `, ${unreadText(index.unread)}` : "";
  const submodules = index.submodules && index.submodules.length > 0 ? `, ${submodulesText(index.submodules)}` : "";
  return `${index.name}${commit}${edits}, ${state}${unread}${submodules}`;
}

function ageOf(ms: number): string {
  const [count, unit] =
    ms < MINUTE_MS
      ? [0, ""]
      : ms < HOUR_MS
        ? [Math.floor(ms / MINUTE_MS), "minute"]
        : ms < DAY_MS
          ? [Math.floor(ms / HOUR_MS), "hour"]
          : [Math.floor(ms / DAY_MS), "day"];
  return count === 0 ? "just now" : `${numberOf(count, unit)} ago`;
}

/** `8 of 41 results shown`. */
export function shownOf(shown: number, total: number, noun: string, isTotalExact = true): string {
  const all = isTotalExact ? String(total) : `at least ${total}`;
  return shown === total && isTotalExact ? numberOf(total, noun) : `${shown} of ${all} ${noun}s shown`;
}

/** A line with its number, as editors show it. */
export function numberedLine(number: number, text: string, width: number): string {
  const cut = text.length > MAX_LINE_CHARACTERS ? `${text.slice(0, MAX_LINE_CHARACTERS).toWellFormed()}…` : text;
  return `${String(number).padStart(width)}  ${cut}`.trimEnd();
}

/** Lines with their numbers, the first of which is `startLine`, padded to `width`; by default that of the last number. */
export function numberedLines(text: string, startLine: number, width?: number): string {
  const lines = text.split("\n");
  const padded = width ?? String(startLine + lines.length - 1).length;
  return lines.map((line, index) => numberedLine(startLine + index, line.replace(/\r$/, ""), padded)).join("\n");
}

/** A part of an answer in several forms, from the longest to the shortest; an empty form leaves it out. */
export type Forms = readonly [string, ...string[]];

/**
 * Chooses a form for each part so that all of them fit into `maxTokens`: the last parts are shortened first, one step at a time;
 * what room is left then goes to the first parts. Returns the chosen forms; those of parts that are left out are empty.
 */
export function fit(parts: readonly Forms[], maxTokens: number): string[] {
  const level = parts.map(() => 0);
  const formOf = (part: number): string => {
    const forms = parts[part] ?? [""];
    return forms[Math.min(level[part] ?? 0, forms.length)] ?? "";
  };
  const sizeOf = (part: number): number => (formOf(part) === "" ? 0 : tokensOf(formOf(part)) + 1);
  let size = parts.reduce((sum, _, part) => sum + sizeOf(part), 0);
  const steps = Math.max(0, ...parts.map((forms) => forms.length));
  for (let step = 1; step <= steps; step++) {
    for (let part = parts.length - 1; part >= 0 && size > maxTokens; part--) {
      size -= sizeOf(part);
      level[part] = step;
      size += sizeOf(part);
    }
  }
  for (let part = 0; part < parts.length; part++) {
    const chosen = level[part] ?? 0;
    const rest = size - sizeOf(part);
    for (let longer = 0; longer <= chosen; longer++) {
      level[part] = longer;
      if (longer === chosen || rest + sizeOf(part) <= maxTokens) break;
    }
    size = rest + sizeOf(part);
  }
  return parts.map((_, part) => formOf(part));
}

/** A text with a capital letter and a full stop. */
export const asSentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
