import { raw } from "hono/html";
import { escapeHtml } from "../../../lib/html.ts";
import { type Token, tokenize } from "./highlight.ts";

/** Columns of a line that are marked: from 0, in UTF-16 units, the second exclusive; ascending and apart. */
export type Marks = (line: number) => readonly (readonly [from: number, to: number])[];

interface CodeProps {
  text: string;
  language: string;
  /** Number of the first line. */
  firstLine: number;
  label: string;
  marks?: Marks;
  /** Lines whose numbers are set off. */
  best?: { startLine: number; endLine: number };
  /** Page that a line's number leads to, without the anchor; the lines have anchors of their own if it is "". */
  page: string;
  /** Lines by number, each with what is shown in its place. */
  instead?: ReadonlyMap<number, string>;
  /** Page that tells about a name, to which the name is appended; with a script, names of the code lead there. */
  namePage?: string;
}

/** What is shown in place of a file's withheld lines. */
export function withheldLines(withheld: readonly (readonly number[])[]): Map<number, string> {
  const instead = new Map<number, string>();
  for (const [from = 1, to = 0] of withheld)
    for (let line = from; line <= to; line++) instead.set(line, "withheld: this line may hold a secret");
  return instead;
}

/** Lines that a browser lays out together, once they are near the screen. */
const BLOCK_LINES = 100;

/**
 * Code with line numbers, highlighted. Made as text, because a file may have 10,000 lines and elements for each token took 0.5 s.
 */
export function Code({ text, language, firstLine, label, marks, best, page, instead, namePage }: CodeProps) {
  const lines = splitLines(tokenize(text, language));
  const blocks: string[] = [];
  for (let from = 0; from < lines.length; from += BLOCK_LINES) {
    const html = lines.slice(from, from + BLOCK_LINES).map((tokens, i) => {
      const line = firstLine + from + i;
      const note = instead?.get(line);
      const code =
        note === undefined
          ? tokensHtml(tokens, marks?.(line) ?? [])
          : `<span class="withheld">${escapeHtml(note)}</span>`;
      const isBest = best !== undefined && line >= best.startLine && line <= best.endLine;
      return `${numberHtml(line, page, isBest)}${code}\n`;
    });
    blocks.push(`<span class="block">${html.join("")}</span>`);
  }
  return (
    <section class="code" tabindex={0} aria-label={label} {...(namePage !== undefined && { "data-names": namePage })}>
      <pre>
        <code>{raw(blocks.join(""))}</code>
      </pre>
    </section>
  );
}

function numberHtml(line: number, page: string, isBest: boolean): string {
  const id = page === "" ? ` id="L${line}"` : "";
  const on = isBest ? " on" : "";
  return `<a class="line-no${on}"${id} href="${escapeHtml(page)}#L${line}" tabindex="-1">${line}</a>`;
}

function tokensHtml(tokens: readonly Token[], marks: readonly (readonly [number, number])[]): string {
  let html = "";
  let column = 0;
  let next = 0;
  for (const { kind, text } of tokens) {
    let inner = "";
    let at = 0;
    while (at < text.length) {
      while (next < marks.length && (marks[next]?.[1] ?? 0) <= column + at) next++;
      const [from, to] = marks[next] ?? [Infinity, Infinity];
      const isMarked = column + at >= from;
      const end = Math.min(text.length, (isMarked ? to : from) - column);
      const part = escapeHtml(text.slice(at, end));
      inner += isMarked ? `<mark>${part}</mark>` : part;
      at = end;
    }
    html += kind === undefined ? inner : `<span class="hl-${kind}">${inner}</span>`;
    column += text.length;
  }
  return html;
}

/** Groups tokens by line; a token that spans lines is split. */
function splitLines(tokens: readonly Token[]): Token[][] {
  const lines: Token[][] = [[]];
  for (const { kind, text } of tokens) {
    for (const [i, part] of text.split("\n").entries()) {
      if (i > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push({ kind, text: part });
    }
  }
  return lines;
}

/** Words that are marked at most, and marks in a line. */
const MAX_WORDS = 20;
const MAX_MARKS = 50;

/** Marks of words in a text, whatever their case. */
export function marksOf(text: string, firstLine: number, words: readonly string[]): Marks {
  const wanted = [...new Set(words.map((word) => word.toLowerCase()))]
    .filter((word) => word.length > 1)
    .slice(0, MAX_WORDS);
  const lines = text.split("\n").map((line) => line.toLowerCase());
  return (number) => {
    const line = lines[number - firstLine] ?? "";
    const found: [number, number][] = [];
    for (const word of wanted)
      for (
        let at = line.indexOf(word);
        at !== -1 && found.length < MAX_MARKS;
        at = line.indexOf(word, at + word.length)
      )
        found.push([at, at + word.length]);
    found.sort(([a], [b]) => a - b);
    return found.reduce<[number, number][]>((apart, range) => {
      const last = apart.at(-1);
      if (last && range[0] <= last[1]) last[1] = Math.max(last[1], range[1]);
      else apart.push(range);
      return apart;
    }, []);
  };
}
