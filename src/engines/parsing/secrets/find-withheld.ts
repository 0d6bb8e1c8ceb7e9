import { decodeText } from "../source-text.ts";
import { findSecrets } from "./find.ts";
import { type LineRange, linesOf } from "./lines.ts";

/** Finds the lines of a file that hold a likely secret, or a part of one. In time proportional to its length. */
export function findWithheld(bytes: Uint8Array): LineRange[] {
  const text = decodeText(bytes);
  return linesOf(text, findSecrets(text));
}
