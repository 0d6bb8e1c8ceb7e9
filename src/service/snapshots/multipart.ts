import { CONTENT_TYPE, type MultipartUpload, type SnapshotBucket, type UploadedPart } from "./storage.ts";

/** R2 requires parts of at least 5 MiB, all but the last of the same size, and at most 10,000 of them. */
const PART_BYTES = 8 * 1024 * 1024;

/**
 * Uploads bytes of unknown length to one object. At most two parts are in memory: one is filled while the other is uploaded.
 * The object does not exist before `finish`.
 */
export class MultipartSink {
  readonly #upload: MultipartUpload;
  readonly #parts: UploadedPart[] = [];
  #buffer = new Uint8Array(PART_BYTES);
  #filled = 0;
  #travelling: Promise<void> | undefined;

  private constructor(upload: MultipartUpload) {
    this.#upload = upload;
  }

  static async create(bucket: SnapshotBucket, key: string): Promise<MultipartSink> {
    return new MultipartSink(await bucket.createMultipartUpload(key, { httpMetadata: { contentType: CONTENT_TYPE } }));
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + PART_BYTES - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === PART_BYTES) await this.#send();
    }
  }

  /** Completes the object. */
  async finish(): Promise<{ size: number }> {
    if (this.#filled > 0) await this.#send();
    await this.#travelling;
    return this.#upload.complete(this.#parts);
  }

  /** Cancels the upload and discards its parts. */
  async abort(): Promise<void> {
    await this.#travelling?.catch(() => undefined);
    await this.#upload.abort();
  }

  async #send(): Promise<void> {
    await this.#travelling;
    const number = this.#parts.length + 1;
    const body = this.#buffer.subarray(0, this.#filled);
    this.#buffer = new Uint8Array(PART_BYTES);
    this.#filled = 0;
    const travelling = this.#upload.uploadPart(number, body).then((part) => void this.#parts.push(part));
    // Awaited by the next call; until then a rejection must not be reported as unhandled.
    travelling.catch(() => undefined);
    this.#travelling = travelling;
  }
}
