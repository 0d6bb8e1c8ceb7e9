/** Paths that git prints. */
import { Buffer, isUtf8 } from "node:buffer";
import { pathFromBytes } from "../../lib/path-text.ts";
import { gitList, splitNul } from "./command.ts";

/** `latin1` keeps every byte of an output that is not UTF-8. */
type Encoding = "utf8" | "latin1";

/** An encoding in which no byte of the output is lost. */
export function encodingOf(output: Uint8Array): Encoding {
  return isUtf8(output) ? "utf8" : "latin1";
}

/** A control character, or the mark of a quoted path. */
const ODD = /^"|\p{Cc}/u;

/** Stands for bytes that are not UTF-8 in a text. */
export const REPLACEMENT = "\uFFFD";

/** Whether a name may differ from what {@link pathFromBytes} gives for it. */
export function isOdd(name: string): boolean {
  return ODD.test(name) || name.includes(REPLACEMENT);
}

/** A path as the index has it, from its text in an encoding: see {@link pathFromBytes}. */
export function pathOfText(text: string, encoding: Encoding): string {
  return encoding === "utf8" && !ODD.test(text) ? text : pathFromBytes(Buffer.from(text, encoding));
}

/** The paths of an output that has a NUL behind each. */
export function splitPaths(output: Buffer): string[] {
  const encoding = encodingOf(output);
  return splitNul(output, encoding).map((part) => pathOfText(part, encoding));
}

/** The files that git neither tracks nor ignores; none if it fails. */
export function untrackedPaths(root: string): Promise<string[]> {
  return gitList(root, ["ls-files", "--others", "--exclude-standard", "-z"], splitPaths);
}
