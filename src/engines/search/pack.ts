/**
 * Chooses which lines of the found files an answer shows, within a budget. Pure: the same files and budget give the same lines.
 */

const CHARACTERS_PER_TOKEN = 4;
/** Characters of a line's number, the space after it and the line break. */
const LINE_FRAME = 8;
/** Longer lines are generated or data; an excerpt ends before them. */
export const MAX_LINE_UNITS = 1_000;
/** The heads of the results take at most this share of the budget. */
const HEADS_SHARE = 0.5;
/** Excerpts that are not further apart are joined, if the lines between fit. */
const BRIDGED_LINES = 3;
/** What is left of the budget is not worth a further excerpt of fewer characters. */
const MIN_PART_CHARACTERS = 160;
/** A part begins with the first line of a definition where that costs at most this share of what the part matches. */
const FIRST_LINE_SHARE = 0.5;

/** A line of a file that was read. */
export interface TextLine {
  /** 1-based. */
  number: number;
  text: string;
  /** Sum of the strengths of the query's terms on it. */
  strength: number;
  /** Neither blank nor a comment. */
  isCode: boolean;
  /** First line of a definition. */
  isHead: boolean;
}

/** 1-based, inclusive. */
export interface LineRange {
  startLine: number;
  endLine: number;
}

/** Lines that are worth showing together. */
export interface Offer extends LineRange {
  /** Comparable between the files of an answer. */
  worth: number;
  /** The lines that answer best, which are shown first where not all have room. */
  core?: LineRange | undefined;
}

export interface PackableFile {
  /** Characters of the line that names the file and its best place. */
  headCharacters: number;
  /** What was read of the file, in order of line, each line once. */
  lines: readonly TextLine[];
  offers: readonly Offer[];
}

export interface Packed {
  /** For each file the ranges to show, in order of line, apart from each other. */
  ranges: LineRange[][];
  /** Of all heads that fit, and of the lines with their numbers. */
  tokens: number;
  /** Something that was offered does not fit. */
  isCut: boolean;
}

/**
 * Takes the offers in order of worth. What does not fit as a whole is shown in part: the contiguous lines that match best. Never
 * takes lines of which none is code, unless nothing that was read of the file is.
 */
export function packExcerpts(files: readonly PackableFile[], maxTokens: number): Packed {
  const budget = maxTokens * CHARACTERS_PER_TOKEN;
  const heads = Math.min(
    budget * HEADS_SHARE,
    files.reduce((sum, { headCharacters }) => sum + headCharacters, 0),
  );
  let left = budget - heads;
  let isCut = false;
  const shown = files.map((file) => new ShownLines(file));
  const offers = files
    .flatMap(({ offers: own }, file) => own.map((offer) => ({ ...offer, file })))
    .sort((a, b) => b.worth - a.worth || a.file - b.file || a.startLine - b.startLine);
  for (const { file, startLine, endLine, core } of offers) {
    const own = shown[file] as ShownLines;
    const wanted = own.missing(startLine, endLine);
    if (own.charactersOf(wanted) <= left) {
      left -= own.add(wanted);
      continue;
    }
    isCut = true;
    if (left < MIN_PART_CHARACTERS) continue;
    left -= own.add(own.partFrom(core, endLine, left) ?? own.bestPart(wanted, left));
  }
  for (const own of shown) left -= own.bridge(left);
  return {
    ranges: shown.map((own) => own.ranges()),
    tokens: Math.ceil((budget - left) / CHARACTERS_PER_TOKEN),
    isCut,
  };
}

/** The lines of one file that are shown. */
class ShownLines {
  readonly #lines: readonly TextLine[];
  /** By position in `#lines`. */
  readonly #isShown: Uint8Array;
  readonly #hasCode: boolean;

  constructor({ lines }: PackableFile) {
    this.#lines = lines;
    this.#isShown = new Uint8Array(lines.length);
    this.#hasCode = lines.some(({ isCode }) => isCode);
  }

  /** Positions of the lines from `startLine` to `endLine` that are not shown yet; none if no code is among them. */
  missing(startLine: number, endLine: number): number[] {
    const found: number[] = [];
    for (let i = firstFrom(this.#lines, startLine); (this.#lines[i]?.number ?? Infinity) <= endLine; i++)
      if (this.#isShown[i] === 0 && (this.#lines[i] as TextLine).text.length <= MAX_LINE_UNITS) found.push(i);
    return this.#isWorthShowing(found) ? found : [];
  }

  charactersOf(positions: readonly number[]): number {
    return positions.reduce((sum, i) => sum + (this.#lines[i] as TextLine).text.length + LINE_FRAME, 0);
  }

  /** The core of an offer and the successive lines that follow it in the offer, at most `characters`; undefined if there is none, or no room for all of it. */
  partFrom(core: LineRange | undefined, endLine: number, characters: number): number[] | undefined {
    if (!core) return undefined;
    const fitting = this.#fitting(this.missing(core.startLine, endLine), 0, characters);
    const gap = fitting.findIndex((i, at) => at > 0 && !this.#follows(fitting[at - 1] as number, i));
    const part = gap === -1 ? fitting : fitting.slice(0, gap);
    return (this.#lines[part.at(-1) ?? -1]?.number ?? 0) >= core.endLine ? part : undefined;
  }

  /** Shows the lines and returns their characters. */
  add(positions: readonly number[]): number {
    for (const i of positions) this.#isShown[i] = 1;
    return this.charactersOf(positions);
  }

  /** The successive lines of at most `characters` that match best; such that begin a definition if they are hardly worse. */
  bestPart(positions: readonly number[], characters: number): number[] {
    let best: { from: number; strength: number } | undefined;
    let bestFromHead: typeof best;
    let [end, size, strength] = [0, 0, 0];
    for (let from = 0; from < positions.length; from++) {
      while (end < positions.length && size + this.#characters(positions, end) <= characters) {
        size += this.#characters(positions, end);
        strength += this.#strength(positions, end);
        end++;
      }
      if (end === from) {
        end++;
        continue;
      }
      if (!best || strength > best.strength) best = { from, strength };
      const isHead = from === 0 || this.#lines[positions[from] as number]?.isHead === true;
      if (isHead && (!bestFromHead || strength > bestFromHead.strength)) bestFromHead = { from, strength };
      size -= this.#characters(positions, from);
      strength -= this.#strength(positions, from);
    }
    if (!best) return [];
    const isHeadGood = bestFromHead !== undefined && bestFromHead.strength >= FIRST_LINE_SHARE * best.strength;
    const { from } = isHeadGood ? (bestFromHead as typeof best) : best;
    const run = this.#longestRun(this.#fitting(positions, from, characters));
    return this.#isWorthShowing(run) ? run : [];
  }

  /** Shows the few lines between excerpts as far as they fit, and returns their characters. */
  bridge(characters: number): number {
    let used = 0;
    let last = -1;
    for (let i = 0; i < this.#lines.length; i++) {
      if (this.#isShown[i] === 0) continue;
      const between = Array.from({ length: i - last - 1 }, (_, k) => last + 1 + k);
      const isNear = last >= 0 && between.length > 0 && between.length <= BRIDGED_LINES;
      const isWhole = (this.#lines[i]?.number ?? 0) - (this.#lines[last]?.number ?? 0) === i - last;
      if (isNear && isWhole && between.every((at) => (this.#lines[at] as TextLine).text.length <= MAX_LINE_UNITS)) {
        const size = this.charactersOf(between);
        if (used + size <= characters) used += this.add(between);
      }
      last = i;
    }
    return used;
  }

  /** Runs of shown lines, without blank lines at their ends, those with code only. */
  ranges(): LineRange[] {
    const runs: number[][] = [];
    for (let i = 0; i < this.#lines.length; i++) {
      if (this.#isShown[i] === 0) continue;
      const run = runs.at(-1);
      if (run && this.#follows(run.at(-1) as number, i)) run.push(i);
      else runs.push([i]);
    }
    return runs.flatMap((run) => {
      while (run.length > 0 && this.#isBlank(run[0] as number)) run.shift();
      while (run.length > 0 && this.#isBlank(run.at(-1) as number)) run.pop();
      if (!this.#isWorthShowing(run)) return [];
      const [from, to] = [this.#lines[run[0] as number] as TextLine, this.#lines[run.at(-1) as number] as TextLine];
      return [{ startLine: from.number, endLine: to.number }];
    });
  }

  #follows(position: number, next: number): boolean {
    return next === position + 1 && this.#lines[next]?.number === (this.#lines[position]?.number ?? NaN) + 1;
  }

  #isBlank(position: number): boolean {
    return this.#lines[position]?.text.trim() === "";
  }

  #isWorthShowing(positions: readonly number[]): boolean {
    const shows = this.#hasCode ? (i: number) => this.#lines[i]?.isCode === true : (i: number) => !this.#isBlank(i);
    return positions.some(shows);
  }

  #characters(positions: readonly number[], at: number): number {
    return (this.#lines[positions[at] as number]?.text.length ?? 0) + LINE_FRAME;
  }

  #strength(positions: readonly number[], at: number): number {
    return this.#lines[positions[at] as number]?.strength ?? 0;
  }

  #fitting(positions: readonly number[], from: number, characters: number): number[] {
    let size = 0;
    let end = from;
    while (end < positions.length && size + this.#characters(positions, end) <= characters)
      size += this.#characters(positions, end++);
    return positions.slice(from, end);
  }

  /** The longest part without a gap. */
  #longestRun(positions: readonly number[]): number[] {
    let best: number[] = [];
    let run: number[] = [];
    for (const i of positions) {
      if (run.length > 0 && !this.#follows(run.at(-1) as number, i)) run = [];
      run.push(i);
      if (run.length > best.length) best = run;
    }
    return best;
  }
}

/** Position of the first line that is not above `number`. */
function firstFrom(lines: readonly TextLine[], number: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle] as TextLine).number < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
