/**
 * Scripted agents without a model. None learns from what it reads: each follows a plan that the question alone decides, until half of the
 * gold lines have been shown. So the same judgement, none, is given to all of them.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { STOP_WORDS } from "../../src/engines/embedding/builtin/common-words.ts";
import { placesIn, type ShownPlace } from "../agent-tasks/places.ts";
import type { Session } from "./session.ts";

export interface Tools {
  folder: string;
  /** Asks `codectx mcp`. */
  ask: (tool: string, input: Record<string, unknown>) => Promise<string>;
  random: () => number;
}

export type Policy = (question: string, session: Session, tools: Tools) => Promise<void>;

/** Words that are searched for, in rounds of three; files that are looked into after each round. */
const WORDS = 6;
const WORDS_PER_ROUND = 3;
const FILES_PER_ROUND = 4;
/** What a host's grep shows at most, and the lines that are read around the densest matches. */
const MAX_GREP_ROWS = 100;
const WINDOW = 120;
/** Lines read around a place that an answer only names. */
const AROUND = 40;
const HEADS = 5;
const PAGES = 2;

const STOPS = new Set(STOP_WORDS.split(" "));
const ASIDE = /(?:^|[/_.-])(?:tests?|specs?|__tests__|fixtures?|examples?|docs?|changes|changelog)(?:[/_.-]|$)/i;
const IDENTIFIER = /^(?=.*[a-z])(?:\w+(?:[._]|::)\w[\w.:]*|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|__\w+)$/;

/** The words to search for: identifiers first, then the longest; equal ones in an order of chance. */
function wordsOf(question: string, random: () => number): string[] {
  const found = question.match(/[A-Za-z_][\w.:]*\w/g) ?? [];
  const words = [...new Set(found.map((word) => word.replace(/[.:]+$/, "")))].filter(
    (word) => word.length > 3 && !STOPS.has(word.toLowerCase()),
  );
  const ranked = words.map((word) => ({ word, rank: (IDENTIFIER.test(word) ? 100 : 0) + word.length + random() }));
  return ranked
    .toSorted((a, b) => b.rank - a.rank)
    .slice(0, WORDS)
    .map(({ word }) => word.split(/[.:]+/).at(-1) ?? word);
}

function grep(folder: string, args: readonly string[]): string[] {
  try {
    const output = execFileSync("git", ["-C", folder, "grep", "-I", "-i", "-F", ...args], { maxBuffer: 2 ** 26 });
    return output.toString().trimEnd().split("\n").slice(0, MAX_GREP_ROWS);
  } catch {
    return [];
  }
}

/** Numbered lines of a file, as a host's tool for reading shows them. */
function read(folder: string, file: string, from: number, to: number): { text: string; places: ShownPlace[] } {
  const lines = readFileSync(path.join(folder, file), "utf8").split("\n");
  const first = Math.max(1, from);
  const shown = lines.slice(first - 1, to).map((line, i) => `${first + i}\t${line}`);
  return { text: shown.join("\n"), places: shown.map((_, i) => ({ path: file, line: first + i, isText: true })) };
}

/**
 * Greps three words, counting by file; looks at the matching lines of the files that have most of the rarest, sources first, and reads the
 * densest window of each; then three more words.
 */
export const grepAndRead: Policy = async (question, session, { folder, random }) => {
  const words = wordsOf(question, random);
  const scores = new Map<string, number>();
  const looked = new Set<string>();
  for (let round = 0; round < words.length; round += WORDS_PER_ROUND) {
    for (const word of words.slice(round, round + WORDS_PER_ROUND)) {
      const rows = grep(folder, ["-c", "-e", word]);
      for (const row of rows) {
        const [, file = "", count = "0"] = /^(.*):(\d+)$/.exec(row) ?? [];
        const worth = (Math.log(1 + Number(count)) / Math.log(2 + rows.length)) * (ASIDE.test(file) ? 0.2 : 1);
        scores.set(file, (scores.get(file) ?? 0) + worth);
      }
      if (!session.add(rows.join("\n"), [])) return;
    }
    const best = [...scores].toSorted(([, a], [, b]) => b - a).filter(([file]) => !looked.has(file));
    for (const [file] of best.slice(0, FILES_PER_ROUND)) {
      looked.add(file);
      const pattern = words.slice(0, round + WORDS_PER_ROUND).flatMap((word) => ["-e", word]);
      const rows = grep(folder, ["-n", "-h", ...pattern, "--", file]);
      const lines = rows.map((row) => Number(row.slice(0, row.indexOf(":"))));
      const shown = lines.map((line): ShownPlace => ({ path: file, line, isText: true }));
      if (!session.add(rows.join("\n"), shown)) return;
      const within = (from: number): number => lines.filter((line) => line >= from && line < from + WINDOW).length;
      const start = lines.toSorted((a, b) => within(b) - within(a) || a - b)[0] ?? 1;
      const { text, places } = read(folder, file, start - WINDOW / 6, start + WINDOW);
      if (!session.add(text, places)) return;
    }
  }
};

/** Searches with the question, reads around the places that the answer only names, and asks for the next files. */
export function searchAndRead(limits: { max_tokens?: number; limit?: number }): Policy {
  return async (question, session, { ask, folder }) => {
    for (let page = 0; page < PAGES; page++) {
      const offset = page * (limits.limit ?? 10);
      const answer = await ask("search_code", { query: question, ...limits, ...(offset > 0 && { offset }) });
      if (!session.add(answer, placesIn(answer))) return;
      if (!(await readHeads(answer, session, folder, HEADS))) return;
    }
  };
}

/** Reads the host's way around the first places of the answer that have no lines. False if the agent is to stop. */
async function readHeads(answer: string, session: Session, folder: string, count: number): Promise<boolean> {
  const places = placesIn(answer);
  const withText = new Set(places.filter(({ isText }) => isText).map((place) => place.path));
  for (const { path: file, line } of places.filter((place) => !withText.has(place.path)).slice(0, count)) {
    const { text, places: shown } = read(folder, file, line - AROUND / 4, line + AROUND);
    if (!session.add(text, shown)) return false;
  }
  return true;
}

/** Looks identifiers of the question up first (two), then searches; questions without identifiers are searched at once. */
export const namesThenSearch: Policy = async (question, session, tools) => {
  const names = wordsOf(question, tools.random).filter((word) => IDENTIFIER.test(word));
  for (const name of names.slice(0, 2)) {
    const answer = await tools.ask("find_symbol", { name });
    if (!session.add(answer, placesIn(answer))) return;
  }
  await searchAndRead({})(question, session, tools);
};

/** Searches once, then goes on with grep and read. */
export const searchThenGrep: Policy = async (question, session, tools) => {
  const answer = await tools.ask("search_code", { query: question });
  if (!session.add(answer, placesIn(answer))) return;
  if (!(await readHeads(answer, session, tools.folder, 2))) return;
  await grepAndRead(question, session, tools);
};

/** As a hook on the prompt would: the best places are in the context before the first turn; then grep and read. */
export const hookThenGrep: Policy = async (question, session, tools) => {
  const answer = await tools.ask("search_code", { query: question, max_tokens: 600 });
  session.addText(answer, placesIn(answer));
  session.processed = session.resident;
  if (session.isFound || !(await readHeads(answer, session, tools.folder, 2))) return;
  await grepAndRead(question, session, tools);
};
