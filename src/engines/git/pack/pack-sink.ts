import type { ObjectType } from "../object.ts";
import type { RingEntry } from "./ring.ts";

/** Receives the objects of a pack. */
export interface PackSink {
  /**
   * Receives one object. Its id is computed from its content; nothing else is verified. `buf[start, end)` is valid until
   * this returns or resolves, or, if it marks `entry` as held, until the release. Reading pauses until a promise resolves.
   */
  object(
    type: ObjectType,
    oid: string,
    buf: Uint8Array,
    start: number,
    end: number,
    entry: RingEntry | undefined,
  ): void | Promise<void>;
  /** A blob that is too large to hold: it was hashed and discarded. */
  oversize(oid: string, size: number): void;
  /** An object that could not be rebuilt; its id is unknown. */
  lost(): void;
  /** Called when held objects leave no room; must release all of them. */
  pressure(): Promise<void>;
  /** True when nothing more is needed from this pack. */
  satisfied(): boolean;
  /** Called after each read of input. */
  progress(): void;
  /** Returns a stored tree to be used as a delta base. */
  tree(oid: string): Uint8Array | undefined;
}
