import { styleText } from "node:util";
import type { CliError } from "./exit-codes.ts";
import type { Environment } from "./paths.ts";

const REDRAW_MS = 100;
const BAR_CELLS = 24;
/** For terminals that do not know their width. */
const DEFAULT_COLUMNS = 80;

type Style = Parameters<typeof styleText>[0];

export interface UiOptions {
  json: boolean;
  quiet: boolean;
  color: boolean;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  env: Environment;
}

export interface ProgressLine {
  update(done: number, total: number, note?: string): void;
  /** Takes the line away. */
  end(): void;
}

/**
 * Everything `codectx` says. Results go to stdout: lines for people, or one JSON document. Progress and notes go to stderr,
 * progress only to a terminal.
 */
export class Ui {
  readonly json: boolean;
  readonly quiet: boolean;
  private readonly options: UiOptions;
  private line: TerminalLine | undefined;

  constructor(options: UiOptions) {
    this.options = options;
    this.json = options.json;
    this.quiet = options.quiet;
  }

  /** Whether somebody can be asked. */
  get interactive(): boolean {
    return !this.json && process.stdin.isTTY && this.options.stderr.isTTY;
  }

  /** `text` in colour where stdout is a terminal that wants colours (NO_COLOR, FORCE_COLOR, --no-color). */
  style(style: Style, text: string): string {
    return this.colors(this.options.stdout) ? styleText(style, text, { validateStream: false }) : text;
  }

  private colors(stream: NodeJS.WriteStream): boolean {
    const { env, color } = this.options;
    if (!color || (env["NO_COLOR"] ?? "") !== "") return false;
    if ((env["FORCE_COLOR"] ?? "") !== "") return env["FORCE_COLOR"] !== "0";
    return stream.isTTY && env["TERM"] !== "dumb";
  }

  /** The result of a command: the document, or what `human` makes of it. */
  result(document: Record<string, unknown>, human: () => string | readonly string[]): void {
    this.line?.end();
    if (this.json) this.options.stdout.write(`${JSON.stringify({ ok: true, ...document })}\n`);
    else this.options.stdout.write(`${[human()].flat().join("\n")}\n`);
  }

  /** A remark beside the result; not with --quiet or --json. */
  note(text: string): void {
    if (this.quiet || this.json) return;
    this.print(text);
  }

  /** Something the user should know even where they asked for JSON. */
  warn(text: string): void {
    if (this.quiet) return;
    this.print(this.colors(this.options.stderr) ? styleText("yellow", text, { validateStream: false }) : text);
  }

  private print(text: string): void {
    this.line?.hide();
    this.options.stderr.write(`${text}\n`);
  }

  error(error: CliError): void {
    this.line?.end();
    const { code, message, requestId, details } = error;
    if (this.json) {
      this.options.stdout.write(
        `${JSON.stringify({ ok: false, code, error: message, exitCode: error.exit, requestId, details })}\n`,
      );
      return;
    }
    const label = this.colors(this.options.stderr) ? styleText("red", "error:", { validateStream: false }) : "error:";
    const reference = requestId === undefined ? "" : ` (request ${requestId})`;
    this.options.stderr.write(`${label} ${message}${reference}\n`);
  }

  /** A line that shows how far a long step is; nothing where nobody would see it. */
  progress(label: string): ProgressLine {
    this.line?.end();
    if (this.quiet || this.json || !this.options.stderr.isTTY) return { update: () => undefined, end: () => undefined };
    this.line = new TerminalLine(this.options.stderr, label);
    return this.line;
  }
}

class TerminalLine implements ProgressLine {
  private readonly stream: NodeJS.WriteStream;
  private readonly label: string;
  private drawnAt = 0;
  private shown = false;

  constructor(stream: NodeJS.WriteStream, label: string) {
    this.stream = stream;
    this.label = label;
  }

  update(done: number, total: number, note = ""): void {
    const now = performance.now();
    if (this.shown && now - this.drawnAt < REDRAW_MS && done < total) return;
    this.drawnAt = now;
    const share = total > 0 ? Math.min(done / total, 1) : 0;
    const cells = Math.round(share * BAR_CELLS);
    const bar = "█".repeat(cells) + "░".repeat(BAR_CELLS - cells);
    const text = `${this.label} ${bar} ${Math.floor(share * 100)} % ${note}`.slice(
      0,
      (this.stream.columns || DEFAULT_COLUMNS) - 1,
    );
    this.hide();
    this.stream.write(text);
    this.shown = true;
  }

  hide(): void {
    if (!this.shown) return;
    this.stream.cursorTo(0);
    this.stream.clearLine(0);
    this.shown = false;
  }

  end(): void {
    this.hide();
  }
}

/** `1234567` as `1,234,567`. */
export function formatCount(value: number): string {
  return value.toLocaleString("en-US");
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

/** Rows as aligned columns. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  return rows.map((row) =>
    row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join("  "),
  );
}
