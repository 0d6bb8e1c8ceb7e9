import { nameHash } from "../machine/name-hash.ts";

/** Name of the file that holds a work tree's state. */
export function stateName(root: string): string {
  return `tree-${nameHash(root).slice(0, 32)}`;
}
