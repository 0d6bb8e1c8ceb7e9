/** A likely secret; offsets are UTF-16 code units, the end is exclusive. */
export interface SecretRange {
  start: number;
  end: number;
  rule: string;
}
