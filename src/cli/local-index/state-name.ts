import { sha256 } from "../machine/checksum.ts";

/** Name of the file that holds a work tree's state. */
export function stateName(root: string): string {
  return `tree-${sha256(Buffer.from(root)).toString("hex").slice(0, 32)}`;
}
