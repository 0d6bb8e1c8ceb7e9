import { pathToFileURL } from "node:url";
import { stripVTControlCharacters, styleText } from "node:util";
import stringWidth from "fast-string-width";
import { visible, visibleJson } from "../../lib/display.ts";
import type { CliError } from "../exit-codes.ts";
import type { Environment } from "../machine/paths.ts";
import type { Output } from "./output.ts";

const REDRAW_MS = 100;
const BAR_CELLS = 24;
/** Width if the terminal does not report it. */
const DEFAULT_COLUMNS = 80;

type Style = Parameters<typeof styleText>[0];

/**
 * Placeholder for ESC in text that this program has styled. It is replaced on output; text from a repository cannot contain it, so
 * escape sequences of a repository are shown as text.
 */
const ESC_MARK = `\ue000${Math.random().toString(36).slice(2)}\ue001`;

function marked(style: Style, text: string): string {
  return styleText(style, visible(text), { validateStream: false }).replaceAll("\u001b", ESC_MARK);
}

/** Replaces placeholders and escapes unseen characters, line breaks among them. */
function rendered(line: string): string {
  return visible(line).replaceAll(ESC_MARK, "\u001b");
}

interface UiOptions {
  json: boolean;
  quiet: boolean;
  color: boolean;
  stdout: Output;
  stderr: Output;
  env: Environment;
}

interface ProgressLine {
  /** Shows a bar. */
  update(done: number, total: number, note?: string): void;
  /** Shows a text without a bar, for a step of unknown length. */
  note(text: string): void;
  /** Removes the line. */
  end(): void;
}

/**
 * Output of `codectx`. Results go to stdout, as lines or as one JSON document. Progress and notes go to stderr, progress only if it
 * is a terminal. Unseen characters are escaped (display.ts): a line stays one line, whatever a repository or a service puts into it.
 */
export class Ui {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly #options: UiOptions;
  readonly #colored = new Map<Output, boolean>();
  #line: TerminalLine | undefined;

  constructor(options: UiOptions) {
    this.#options = options;
    this.json = options.json;
    this.quiet = options.quiet;
  }

  /** Whether the user can be prompted. */
  get interactive(): boolean {
    return !this.json && process.stdin.isTTY && this.#options.stderr.isTTY;
  }

  /** Whether stdout is a terminal. */
  get terminal(): boolean {
    return !this.json && this.#options.stdout.isTTY;
  }

  /** Lines that the terminal shows at a time; undefined where that is not known. */
  get rows(): number | undefined {
    return this.terminal ? this.#options.stdout.stream.rows : undefined;
  }

  /** Styles `text` if stdout is a terminal with colours enabled (NO_COLOR, FORCE_COLOR, --no-color). */
  style(style: Style, text: string): string {
    if (!this.#colors(this.#options.stdout)) return text;
    return marked(style, text);
  }

  /** Links `text` to a file if stdout is a terminal with colours enabled. */
  link(file: string, text: string): string {
    if (!this.terminal || !this.#colors(this.#options.stdout)) return text;
    return `${ESC_MARK}]8;;${pathToFileURL(file).href}${ESC_MARK}\\${text}${ESC_MARK}]8;;${ESC_MARK}\\`;
  }

  /** Decided once: a look at the environment for each of many lines takes longer than the lines. */
  #colors(stream: Output): boolean {
    const known = this.#colored.get(stream);
    if (known !== undefined) return known;
    const colored = this.#decideColors(stream);
    this.#colored.set(stream, colored);
    return colored;
  }

  #decideColors(stream: Output): boolean {
    const { env, color } = this.#options;
    if (!color || (env["NO_COLOR"] ?? "") !== "") return false;
    if ((env["FORCE_COLOR"] ?? "") !== "") return env["FORCE_COLOR"] !== "0";
    return stream.isTTY && env["TERM"] !== "dumb";
  }

  /** Writes the result of a command: the document with `--json`, else the lines of `human`. */
  result(document: Record<string, unknown>, human: () => string | readonly string[]): void {
    this.#line?.end();
    this.#options.stdout.write(
      this.json ? `${visibleJson({ ok: true, ...document })}\n` : this.renderedLines([human()].flat()),
    );
  }

  /** Renders lines like {@link result}, for a pager. */
  renderedLines(lines: readonly string[]): string {
    return lines.map((line) => `${rendered(line)}\n`).join("");
  }

  /** Prints a note to stderr, unless with --quiet or --json. */
  note(text: string): void {
    if (this.quiet || this.json) return;
    this.#print(text);
  }

  /** Prints a warning to stderr, unless with --quiet. */
  warn(text: string): void {
    if (this.quiet) return;
    this.#print(this.#colors(this.#options.stderr) ? marked("yellow", text) : text);
  }

  #print(text: string): void {
    this.#line?.hide();
    this.#options.stderr.write(`${rendered(text)}\n`);
  }

  error(error: CliError): void {
    this.#line?.end();
    const { code, message, requestId, details } = error;
    if (this.json) {
      this.#options.stdout.write(
        `${visibleJson({ ok: false, code, error: message, exitCode: error.exit, requestId, details })}\n`,
      );
      return;
    }
    const label = this.#colors(this.#options.stderr) ? styleText("red", "error:", { validateStream: false }) : "error:";
    const reference = requestId === undefined ? "" : ` (request ${visible(requestId)})`;
    this.#options.stderr.write(`${label} ${visible(message)}${reference}\n`);
  }

  /** A progress bar on stderr, if it is a terminal; of work that is mostly short, only from `afterMs` on. */
  progress(label: string, { afterMs } = { afterMs: 0 }): ProgressLine {
    this.#line?.end();
    if (this.quiet || this.json || !this.#options.stderr.isTTY)
      return { update: () => undefined, note: () => undefined, end: () => undefined };
    this.#line = new TerminalLine(this.#options.stderr.stream, label, performance.now() + afterMs);
    return this.#line;
  }
}

class TerminalLine implements ProgressLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #label: string;
  readonly #from: number;
  #drawnAt = 0;
  #shown = false;

  constructor(stream: NodeJS.WriteStream, label: string, from: number) {
    this.#stream = stream;
    this.#label = label;
    this.#from = from;
  }

  update(done: number, total: number, note = ""): void {
    const share = total > 0 ? Math.min(done / total, 1) : 0;
    const cells = Math.round(share * BAR_CELLS);
    const bar = "█".repeat(cells) + "░".repeat(BAR_CELLS - cells);
    this.#draw(`${bar} ${Math.floor(share * 100)} % ${note}`, done >= total);
  }

  note(text: string): void {
    this.#draw(text, false);
  }

  #draw(text: string, atOnce: boolean): void {
    const now = performance.now();
    if (now < this.#from) return;
    if (this.#shown && now - this.#drawnAt < REDRAW_MS && !atOnce) return;
    this.#drawnAt = now;
    this.hide();
    this.#stream.write(visible(`${this.#label} ${text}`).slice(0, (this.#stream.columns || DEFAULT_COLUMNS) - 1));
    this.#shown = true;
  }

  hide(): void {
    if (!this.#shown) return;
    this.#stream.cursorTo(0);
    this.#stream.clearLine(0);
    this.#shown = false;
  }

  end(): void {
    this.hide();
  }
}

/** `1234567` as `1,234,567`. Not by `toLocaleString`, whose first call takes longer than most look-ups. */
export function formatCount(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 chunk`, `2 chunks`. */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = bytes / 1_024;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit] ?? ""}`;
}

export function formatDuration(ms: number): string {
  return ms < 1_000
    ? `${Math.round(ms)} ms`
    : ms < 60_000
      ? `${(ms / 1_000).toFixed(1)} s`
      : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** Width of a styled text in columns of a terminal, where an ideograph or an emoji takes two. */
function widthOf(text: string): number {
  return stringWidth(stripVTControlCharacters(rendered(text)));
}

/** A longer cell does not widen its column: one name of 200 characters would push the other columns off the screen in every row. */
const MAX_COLUMN_WIDTH = 60;

/** Formats rows as aligned columns. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) {
      const width = widthOf(cell);
      if (width <= MAX_COLUMN_WIDTH) widths[i] = Math.max(widths[i] ?? 0, width);
    }
  }
  return rows.map((row) =>
    row
      .map((cell, i) =>
        i === row.length - 1 ? cell : cell + " ".repeat(Math.max(0, (widths[i] ?? 0) - widthOf(cell))),
      )
      .join("  ")
      .trimEnd(),
  );
}

/** The last line of a list that is not whole; none if it is. */
export function shownOf(shown: number, { total, truncated }: { total: number; truncated: boolean }): string[] {
  if (!truncated) return [];
  if (total > shown) return [`(${formatCount(shown)} of ${formatCount(total)}; --limit shows more)`];
  return ["(there may be more: a question reads a limited number of files)"];
}
