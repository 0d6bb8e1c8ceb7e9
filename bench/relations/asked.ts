/** What `callers` answers when it is asked for each definition that a tool says is called, counted by lines and by calling functions. */
import { inherits } from "../../src/engines/relations/resolve.ts";
import type { DefinedSymbol } from "../../src/engines/relations/question-files.ts";
import type { UsesIndex } from "../../src/engines/relations/uses-index.ts";
import { innermostCallable, UsesFinder } from "../../src/interface/questions/relations/callers.ts";
import type { Certainty } from "../../src/interface/questions/relations/found.ts";
import type { GoldCall } from "./gold-call.ts";

/** Counts of lines; `callers` of functions. A tier includes those that are surer. */
export interface Counts {
  lines: number;
  certain: Tier;
  likely: Tier;
  all: Tier;
  callers: Tier & { calling: number };
}

export interface Tier {
  right: number;
  wrong: number;
}

/** A line that is wrong or missed, for the lists of `--wrong` and `--missed`. */
export interface Difference {
  /** The certainty claimed, or the surest with which a line of the tool was found. */
  certainty: Certainty | "none";
  isWrong: boolean;
  path: string;
  line: number;
  name: string;
  definition: string;
}

interface Place {
  path: string;
  line: number;
}

const keyOf = ({ path, line }: Place): string => `${path}:${line}`;
const RANKS: readonly Certainty[] = ["certain", "likely", "name"];

export const noCounts = (): Counts => ({
  lines: 0,
  certain: { right: 0, wrong: 0 },
  likely: { right: 0, wrong: 0 },
  all: { right: 0, wrong: 0 },
  callers: { right: 0, wrong: 0, calling: 0 },
});

export function add(into: Counts, more: Counts): void {
  into.lines += more.lines;
  for (const tier of ["certain", "likely", "all", "callers"] as const) {
    into[tier].right += more[tier].right;
    into[tier].wrong += more[tier].wrong;
  }
  into.callers.calling += more.callers.calling;
}

/**
 * Asks for the callers of every definition that `gold` names. `open` gives the index anew, since one serves a question. A line of which the
 * tool says nothing, or whose call any implementation may answer, counts neither way.
 */
export async function ask(
  gold: readonly GoldCall[],
  open: () => UsesIndex,
): Promise<{ counts: Counts; differences: Difference[] }> {
  const counts = noCounts();
  const differences: Difference[] = [];
  const files = open();
  // What each line calls, by the name that is written there.
  const said = new Map<string, Map<string, { to: Set<string>; isOpen: boolean }>>();
  for (const [key, calls] of Map.groupBy(gold, keyOf)) {
    const names = [...Map.groupBy(calls, ({ name }) => name)].map(([name, own]) => {
      const to = new Set(own.map((call) => keyOf({ path: call.to, line: call.at })));
      return [name, { to, isOpen: own.some((call) => call.to === "dispatch") }] as const;
    });
    said.set(key, new Map(names));
  }
  const counted = gold.filter((call) => !said.get(keyOf(call))?.get(call.name)?.isOpen && files.has(call.to));
  // Overloads, and what a repository holds twice, are asked for together.
  const placesOf = (call: GoldCall) => [...(said.get(keyOf(call))?.get(call.name)?.to ?? [])].sort().join(" ");
  for (const [definition, own] of Map.groupBy(counted, placesOf)) {
    const lines = new Map(own.map((call) => [keyOf(call), call]));
    const found = await callersOf(definition, open());
    const calling = new Set<string>();
    for (const [key, { path, line, name }] of lines) {
      const certainty = found.get(key);
      counts.lines++;
      countTo(counts, certainty, "right");
      calling.add(await around(files, path, line));
      if (certainty !== "certain")
        differences.push({ certainty: certainty ?? "none", isWrong: false, path, line, name, definition });
    }
    const claimed = new Set<string>();
    for (const [key, certainty] of found) {
      const calls = said.get(key);
      const { path, line } = placeOf(key);
      const isRight = lines.has(key);
      const name = await wrongName(calls, definition.split(" "), found.name, files);
      if (isRight || name !== undefined) if (certainty !== "name") claimed.add(await around(files, path, line));
      if (isRight || name === undefined) continue;
      countTo(counts, certainty, "wrong");
      if (certainty !== "name") differences.push({ certainty, isWrong: true, path, line, name, definition });
    }
    counts.callers.calling += calling.size;
    for (const each of claimed) counts.callers[calling.has(each) ? "right" : "wrong"]++;
  }
  return { counts, differences };
}

function countTo(counts: Counts, certainty: Certainty | undefined, side: "right" | "wrong"): void {
  const rank = certainty === undefined ? RANKS.length : RANKS.indexOf(certainty);
  for (const [i, tier] of (["certain", "likely", "all"] as const).entries()) if (rank <= i) counts[tier][side]++;
}

/** The name under which a line calls something else of which the tool knows; undefined where it says nothing of it. */
async function wrongName(
  calls: ReadonlyMap<string, { to: ReadonlySet<string>; isOpen: boolean }> | undefined,
  definitions: readonly string[],
  name: string,
  files: UsesIndex,
): Promise<string | undefined> {
  const call = calls?.get(name);
  if (call === undefined || call.isOpen) return undefined;
  for (const definition of definitions)
    for (const to of call.to)
      if (to === definition || (await overrides(placeOf(definition), placeOf(to), files))) return undefined;
  return name;
}

/** Whether a method is of a class that inherits from that of another method: a call of the one may then be one of the other. */
async function overrides(method: Place, other: Place, files: UsesIndex): Promise<boolean> {
  const classOf = async ({ path, line }: Place) =>
    (await files.uses(path))?.classes.find(({ members }) => [...members.values()].some((each) => each.line === line));
  const [derived, base] = [await classOf(method), await classOf(other)];
  if (!derived || !base) return false;
  return inherits({ path: method.path, line: derived.line }, { path: other.path, line: base.line }, files);
}

type Found = Map<string, Certainty> & { name: string };

/** The lines that `callers` names for the definitions at some places, each with its surest certainty. */
async function callersOf(definition: string, files: UsesIndex): Promise<Found> {
  const there: DefinedSymbol[] = [];
  for (const { path, line } of definition.split(" ").map(placeOf))
    there.push(...(await files.definitionsIn(path)).filter(({ startLine }) => startLine === line));
  const found: Found = Object.assign(new Map<string, Certainty>(), { name: there[0]?.name ?? "" });
  if (there.length === 0) return found;
  for (const use of await new UsesFinder(files, "callers").find(there, 1)) {
    const known = found.get(keyOf(use));
    if (known === undefined || RANKS.indexOf(use.certainty) < RANKS.indexOf(known))
      found.set(keyOf(use), use.certainty);
  }
  return found;
}

function placeOf(key: string): Place {
  const end = key.lastIndexOf(":");
  return { path: key.slice(0, end), line: Number(key.slice(end + 1)) };
}

/** The function, method or class around a line; the file where there is none. */
async function around(files: UsesIndex, path: string, line: number): Promise<string> {
  const own = innermostCallable(await files.definitionsIn(path), line);
  return own === undefined ? path : keyOf({ path, line: own.startLine });
}
