/** Callees: what is called inside of definitions. */
import { isBareName, isOfType } from "../../../engines/relations/bare-names.ts";
import { hasUses, mayCall, mayCallIn } from "../../../engines/relations/languages.ts";
import type { Use } from "../../../engines/relations/types.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { mayBeField } from "../../../engines/relations/references.ts";
import { InvalidFieldError } from "../code-index.ts";
import {
  type Call,
  type Certainty,
  distinct,
  type FoundUse,
  isFunction,
  KINDS,
  lessSure,
  symbolKey,
  targetOf,
  TYPES,
} from "./found.ts";
import { resolvedDefinitions } from "./resolved.ts";
import { isRubyFile } from "../../../engines/relations/ruby-keys.ts";
import { calleesInLines } from "./callees-in-lines.ts";
import { initializerOf } from "./constructions.ts";

/** Uses inside of the definitions that are looked at for a question. */
const MAX_CALLS = 2_000;
const MAX_DEFINITIONS = 100;

interface Called {
  definition: DefinedSymbol;
  certainty: Certainty;
}

const calling = (place: { path: string; line: number; distance: number }, { definition, certainty }: Called) => ({
  ...place,
  certainty,
  target: targetOf(definition),
  called: definition,
});

/** Finds what definitions call. One object serves one question: its limits are the question's. */
export class CalleesFinder {
  readonly #files: QuestionFiles;
  readonly #maxCalls: number;
  #looked = 0;
  truncated = false;

  /** `maxCalls` is how many calls are looked at in all. */
  constructor(files: QuestionFiles, maxCalls = MAX_CALLS) {
    this.#files = files;
    this.#maxCalls = maxCalls;
  }

  /** What definitions call, and up to `depth` steps of what is called there. Throws `InvalidFieldError` if all are of prose or data. */
  async find(all: readonly (DefinedSymbol & { language: string })[], depth: number): Promise<FoundUse[]> {
    const definitions = all.filter(({ language }) => mayCall(language));
    const [other] = all;
    if (other && definitions.length === 0)
      throw new InvalidFieldError("relation", `callees are those of code: ${other.path} is ${other.language}`);
    const found: FoundUse[] = [];
    const seen = new Set(definitions.map((each) => symbolKey(each)));
    let step = new Map<DefinedSymbol, Certainty>(definitions.map((each) => [each, "certain"]));
    for (let distance = 1; distance <= depth && step.size > 0; distance++) {
      const next = new Map<DefinedSymbol, Certainty>();
      for (const [definition, certainty] of step)
        for (const { called, named: _, ...use } of await this.callsIn(definition, distance > 1)) {
          const sureness = lessSure(certainty, use.certainty);
          found.push({ ...use, certainty: sureness, distance });
          const key = called && symbolKey(called);
          if (!called || key === undefined || seen.has(key)) continue;
          seen.add(key);
          if (next.size < MAX_DEFINITIONS) next.set(called, sureness);
          else this.truncated = true;
        }
      step = next;
    }
    return distinct(found);
  }

  /**
   * The calls in a definition, each with the definition that is called, if that is known, else with the definitions of that name. For a class
   * that `isCalled`, the calls of its construction: its methods do not run.
   */
  async callsIn(definition: DefinedSymbol, isCalled = false): Promise<Call[]> {
    const { path, startLine, endLine } = definition;
    if (!hasUses(this.#files.language(path))) {
      const { uses, truncated } = await calleesInLines(this.#files, definition);
      this.truncated ||= truncated;
      return uses;
    }
    const found: Call[] = [];
    const apart = isCalled && TYPES.has(definition.kind) ? await this.#membersOf(definition) : [];
    for (const use of (await this.#files.uses(path))?.uses ?? []) {
      if (use.line < startLine || use.line > endLine || !KINDS.callees.has(use.kind)) continue;
      if (apart.some((each) => each.startLine <= use.line && use.line <= each.endLine)) continue;
      if (this.#looked++ >= this.#maxCalls) {
        this.truncated = true;
        break;
      }
      const called = await this.#called(path, use);
      if (called === undefined) continue;
      const place = { path, line: use.line, distance: 1 };
      if (!Array.isArray(called)) found.push({ ...place, certainty: "name", called: undefined, named: called.named });
      else
        for (const each of called) {
          found.push(calling(place, each));
          found.push(...(await this.#initializer(use, each)).map((own) => calling(place, own)));
        }
    }
    return found;
  }

  /** Members of a type whose calls are not part of its construction: methods, and types inside of it. */
  async #membersOf({ path, startLine, endLine }: DefinedSymbol): Promise<DefinedSymbol[]> {
    const symbols = await this.#files.definitionsIn(path);
    return symbols.filter(
      (each) =>
        startLine < each.startLine &&
        each.endLine <= endLine &&
        (each.kind === "method" || each.kind === "function" || TYPES.has(each.kind)),
    );
  }

  /** What the construction of a class of Ruby calls besides. */
  async #initializer({ kind }: Use, { definition, certainty }: Called): Promise<Called[]> {
    if (kind !== "construct" || !isRubyFile(definition.path)) return [];
    const found = await initializerOf(this.#files, targetOf(definition));
    return found ? [{ ...found, certainty: lessSure(certainty, found.certainty) }] : [];
  }

  /** The definition that a use calls, or the overloads of which it calls one; `named` if it may be any of those with its name; undefined if it is none of the index. */
  async #called(path: string, use: Use): Promise<Called[] | { named: DefinedSymbol[] } | undefined> {
    const called = await resolvedDefinitions(this.#files, path, use);
    if (called === "none") return undefined;
    const isReference = use.kind === "reference";
    if (called === "unknown") {
      const language = this.#files.language(path);
      if (isReference && mayBeField(path, language, use.meaning)) return undefined;
      const isBare = isBareName(language, use.meaning);
      const named = (await this.#files.definitions(use.name, path)).filter(
        (each) =>
          mayCallIn(language, this.#files.language(each.path)) &&
          !(isBare && isOfType(each.kind)) &&
          (!isReference || isFunction({ kind: each.kind ?? "" })),
      );
      return named.length > 0 ? { named } : undefined;
    }
    const definitions = isReference ? called.definitions.filter(isFunction) : called.definitions;
    return definitions.length === 0
      ? undefined
      : definitions.map((definition) => ({ definition, certainty: called.certainty }));
  }
}
