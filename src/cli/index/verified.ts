/** The local index is damaged: what it says cannot be trusted. */
export class IndexDamagedError extends Error {
  override readonly name = "IndexDamagedError";
  /** The damaged part was removed: the same work may be tried again without building the index anew. */
  readonly removed: boolean;

  constructor(message: string, options: { removed?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.removed = options.removed ?? false;
  }
}

/** A row, after the column `intact` of its query says that it is as it was written. Throws {@link IndexDamagedError}. */
export function verified<T>(row: unknown): T {
  const { intact, ...rest } = row as { intact: number | null };
  if (intact !== 1) throw new IndexDamagedError("a row does not match its check sum");
  return rest as T;
}
