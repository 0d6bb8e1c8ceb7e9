import type { Use } from "../../src/engines/relations/types.ts";

/** A call and the definition that it means; `to` is `dispatch` for an abstract method and `-` for what is not in the checkout. */
export interface GoldCall {
  path: string;
  line: number;
  name: string;
  to: string;
  at: number;
}

/** Our uses of a file: a tool that is asked call by call is asked where they are. */
export type UsesOf = (path: string) => Promise<readonly Use[]>;
