import type { ObjectType } from "../object.ts";
import type { RingEntry } from "./ring.ts";

/** What becomes of the objects of a pack. */
export interface PackSink {
  /**
   * One object, verified only as far as its id says. `buf[start, end)` is valid until this returns or resolves, or, when
   * `entry` is marked as held, until released. A promise stops the reading until it resolves.
   */
  object(
    type: ObjectType,
    oid: string,
    buf: Uint8Array,
    start: number,
    end: number,
    entry: RingEntry | undefined,
  ): void | Promise<void>;
  /** A blob too large to be held: hashed and thrown away. */
  oversize(oid: string, size: number): void;
  /** An object that could not be rebuilt, whose id is therefore unknown. */
  lost(): void;
  /** Called when held objects leave no room; must release all of them. */
  pressure(): Promise<void>;
  /** Nothing more is needed from this pack. */
  satisfied(): boolean;
  /** More input has come. */
  progress(): void;
  /** A tree kept elsewhere, as a delta base. */
  tree(oid: string): Uint8Array | undefined;
}
