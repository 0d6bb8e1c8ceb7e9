/**
 * Splits a query into segments of different weight, because people paste whole issues with traces, code and version lists. A query of
 * one short line is one title segment. Linear in the length of the text.
 */

export interface QuerySegment {
  text: string;
  /** Weight of a word in this segment; see `WEIGHTS`. */
  weight: number;
  kind: "title" | "inline" | "prose" | "error" | "code";
}

/** One frame of a traceback. */
interface Frame {
  path: string;
  name: string | undefined;
}

interface QueryText {
  segments: QuerySegment[];
  frames: Frame[];
  /** Paths inside of URLs to files at a git host. */
  linkedPaths: string[];
}

const WEIGHTS = { title: 1, inline: 0.7, prose: 0.5, error: 0.5, code: 0.25 } as const;
const TITLE_WORDS = 16;

const URL = /\bhttps?:\/\/[^\s<>()"'`\]]+/g;
const BLOB_URL = /\/(?:blob|raw|blame)\/[^/\s]+\/([^\s#?]+)/;
const FENCE = /^\s{0,3}(?:```|~~~)/;
const PYTHON_FRAME = /^\s*File "([^"]{1,400})", line \d+(?:, in (\S{1,100}))?/;
const SHORT_FRAME = /^([\w./\\-]{1,300}\.\w{1,6}):\d+(?::\d+)?:(?: in (\S{1,100}))?/;
const SCRIPT_FRAME = /^\s*at (?:(?:async |new )?([\w.$<>]{1,100}) )?\(?([^\s()]{1,400}?):\d+(?::\d+)?\)?$/;
const ERROR_LINE = /^(?:E {1,8})?[\w.]{0,100}(?:Error|Exception|Warning|Failure|panic(?:ked)?)\b/;

/** Lines that describe the reporter's machine, or that come from an issue template. */
const NOISE: readonly RegExp[] = [
  /^\s*[-*+]? ?\[[ xX]\]/,
  /^[\s=\-_*#~+.]{3,}$/,
  /^=+ .{0,200} =+$/,
  /^(?:platform \S+ --|rootdir:|plugins:|cachedir:|collected \d+|configfile:|testpaths:)/,
  /^\s{0,60}(?:[-*]\s{0,60})?[\w.[\]-]{1,60}\s*(?:==|[:=]|\s)\s*v?\d+(?:\.\d+){1,4}[\w.+-]{0,40}\s*$/,
  /^\s*(?:python|os|platform|version|node|npm|pip|operating system|browser)\b[^.]{0,20}:.{0,80}$/i,
];

/** Reads a query. */
export function readQueryText(query: string): QueryText {
  const linkedPaths: string[] = [];
  const text = withoutComments(query).replace(URL, (url) => {
    const path = BLOB_URL.exec(url)?.[1];
    if (path !== undefined) linkedPaths.push(path);
    return " ";
  });
  const segments: QuerySegment[] = [];
  const frames: Frame[] = [];
  const put = (kind: keyof typeof WEIGHTS, line: string): void => {
    if (line.trim() !== "") segments.push({ kind, weight: WEIGHTS[kind], text: line });
  };
  let fenced = false;
  let trace = false;
  let titled = false;
  let afterBlank = true;
  for (const line of text.split(/\r?\n|\r/)) {
    if (FENCE.test(line) && titled) {
      fenced = !fenced;
      continue;
    }
    if (line.trim() === "") {
      afterBlank = true;
      continue;
    }
    const frame = frameOf(line);
    if (frame) frames.push(frame);
    if (/^\s*Traceback \(most recent/.test(line)) trace = true;
    const indented = /^(?: {4}|\t)/.test(line);
    if (!titled) {
      titled = true;
      const rest = splitTitle(line);
      putWithCode(put, "title", rest.title);
      putWithCode(put, "prose", rest.rest);
    } else if (frame) put("code", frame.name ?? "");
    else if (NOISE.some((pattern) => pattern.test(line))) continue;
    else if (ERROR_LINE.test(line)) {
      trace = false;
      put("error", line);
    } else if (fenced || trace || /^\s*(?:>>>|\.\.\.|\$|In \[) ?/.test(line) || (indented && afterBlank))
      put("code", line);
    else {
      putWithCode(put, "prose", line);
      afterBlank = false;
      continue;
    }
    afterBlank = indented && afterBlank;
  }
  return { segments, frames, linkedPaths };
}

function withoutComments(text: string): string {
  let kept = "";
  for (let from = 0; ;) {
    const start = text.indexOf("<!--", from);
    if (start < 0) return kept + text.slice(from);
    kept += `${text.slice(from, start)} `;
    const end = text.indexOf("-->", start);
    if (end < 0) return kept;
    from = end + 3;
  }
}

function frameOf(line: string): Frame | undefined {
  const python = PYTHON_FRAME.exec(line) ?? SHORT_FRAME.exec(line);
  if (python) return { path: python[1] as string, name: python[2] };
  const script = SCRIPT_FRAME.exec(line);
  return script ? { path: script[2] as string, name: script[1] } : undefined;
}

/** Splits the first line after `TITLE_WORDS` words: only the beginning of a long line is a title. */
function splitTitle(line: string): { title: string; rest: string } {
  let words = 0;
  for (const { index } of line.matchAll(/\S+/g)) {
    if (words++ === TITLE_WORDS) return { title: line.slice(0, index), rest: line.slice(index) };
  }
  return { title: line, rest: "" };
}

/** Adds a line of prose, with its `inline code` as segments of their own; in a title, inline code counts as the title. */
function putWithCode(
  put: (kind: keyof typeof WEIGHTS, text: string) => void,
  kind: "title" | "prose",
  line: string,
): void {
  const pieces = line.split("`");
  for (const [i, piece] of pieces.entries()) {
    const isCode = i % 2 === 1 && i < pieces.length - 1;
    put(isCode && kind === "prose" ? "inline" : kind, piece);
  }
}
