/** What a scripted agent has seen of a case, and what that took. */
import type { ShownPlace } from "../agent-tasks/places.ts";

const CHARACTERS_PER_TOKEN = 4;
/** Tokens of the call itself: name, arguments and the host's frame. */
const CALL_TOKENS = 60;
const MAX_CALLS = 24;
const MAX_RESIDENT = 30_000;
/** The agent has what it needs when it has seen this share of the gold lines. */
const ENOUGH = 0.5;

export class Session {
  calls = 0;
  /** Tokens in the context: the question, the descriptions of tools that only this policy needs, calls and answers. */
  resident: number;
  /** Tokens that the model reads: the whole context at each turn. */
  processed: number;
  /** Tokens in the context when the first gold line was seen. */
  first: number | undefined;
  readonly #gold: ReadonlySet<string>;
  readonly #seen = new Set<string>();

  /** `gold` holds `path line`. */
  constructor(gold: ReadonlySet<string>, tokensAtStart: number) {
    this.#gold = gold;
    this.resident = tokensAtStart;
    this.processed = tokensAtStart;
  }

  get isFound(): boolean {
    return this.#seen.size >= ENOUGH * this.#gold.size;
  }

  /** Takes the answer of a call with the lines it shows. False if the agent is to stop: it has seen enough, or made enough calls. */
  add(answer: string, places: readonly ShownPlace[]): boolean {
    this.calls++;
    this.addText(answer, places);
    this.resident += CALL_TOKENS;
    this.processed += this.resident;
    return !this.isFound && this.calls < MAX_CALLS && this.resident < MAX_RESIDENT;
  }

  /** Takes a text that is in the context without a call. */
  addText(text: string, places: readonly ShownPlace[]): void {
    this.resident += tokensOf(text);
    for (const { path, line, isText } of places) {
      const key = `${path} ${line}`;
      if (isText && this.#gold.has(key)) this.#seen.add(key);
    }
    if (this.#seen.size > 0) this.first ??= this.resident;
  }
}

export function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
