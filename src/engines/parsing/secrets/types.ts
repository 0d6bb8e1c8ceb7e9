/** Strength of the name as evidence: a `password` may be short, a `key` is usually no secret. */
export type NameClass = "password" | "secret" | "key";

/** A likely secret; offsets are UTF-16 code units, the end is exclusive. */
export interface SecretRange {
  start: number;
  end: number;
  rule: string;
}

/** A place where only a password can occur. */
export interface PasswordPlace {
  rule: string;
  /** One of these texts occurs wherever the pattern matches. */
  hints: readonly string[];
  /** Group 1 is the password. Every pattern is bounded. */
  pattern: RegExp;
  /** Whether something else may stand there, so that a password must look like one. */
  strict?: boolean;
  /** Whether one ordinary word may be the password. */
  words?: boolean;
  /** Of files that hold nothing else, which are small. */
  maxCharacters?: number;
}
