/** The local index is damaged. */
export class IndexDamagedError extends Error {
  override readonly name = "IndexDamagedError";
  /** The damaged part was removed, so the work may be retried without rebuilding the index. */
  readonly removed: boolean;

  constructor(message: string, options: { removed?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.removed = options.removed ?? false;
  }
}

/** Returns a row if its `intact` column is set. Throws {@link IndexDamagedError} otherwise. */
export function verified<T>(row: unknown): T {
  const { intact, ...rest } = row as { intact: number | null };
  if (intact !== 1) throw new IndexDamagedError("a row does not match its checksum");
  return rest as T;
}
