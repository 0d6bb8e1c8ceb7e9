/** Files whose uses a question reads, and bytes of their records: about 20 ms of CPU time a megabyte. */
const MAX_FILES = 5_000;
const MAX_RECORD_BYTES = 12 * 1024 * 1024;
/**
 * Bytes of records whose uses are remembered at a time. In memory they take four times as much, and up to seven times where all of each is asked
 * for. Reading 2,500 files of Go takes 5.4 MB; with 3 MB a question of two steps read every second file twice.
 */
const MAX_REMEMBERED_BYTES = 6 * 1024 * 1024;

/** What one question reads, in all of its repositories: bounds, and the records that are remembered. */
export class ReadBudget {
  #files = 0;
  #bytes = 0;
  /** Sizes of remembered records, the oldest first, and what forgets each. */
  readonly #remembered = new Map<() => void, number>();
  #rememberedBytes = 0;
  /** The limit was reached before everything was read. */
  exhausted = false;

  /** Counts a file that is to be read; false after the last one. */
  takesFile(): boolean {
    if (this.#files++ < MAX_FILES && this.#bytes < MAX_RECORD_BYTES) return true;
    this.exhausted = true;
    return false;
  }

  /** Counts a record that was read, and has the oldest ones forgotten if there are too many. */
  remember(bytes: number, forget: () => void): void {
    this.#bytes += bytes;
    this.#rememberedBytes += bytes;
    this.#remembered.set(forget, bytes);
    for (const [oldest, size] of this.#remembered) {
      if (this.#rememberedBytes <= MAX_REMEMBERED_BYTES || oldest === forget) return;
      this.#remembered.delete(oldest);
      oldest();
      this.#rememberedBytes -= size;
    }
  }
}
