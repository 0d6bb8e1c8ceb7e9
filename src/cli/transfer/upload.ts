import { createReadStream } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { CliError, EXIT } from "../exit-codes.ts";
import { backOff, interrupted, isExpired, storageFailure } from "./retry.ts";

const IDLE_TIMEOUT_MS = 60_000;
const MAX_TRIES = 5;
/** Consecutive rejected URLs after which the upload fails. */
const MAX_REFUSED_URLS = 3;
const READ_BYTES = 256 * 1024;

export interface UploadTarget {
  url: string;
  headers: Record<string, string>;
}

interface UploadOptions {
  signal: AbortSignal;
  /** Requests a new URL when the current one is no longer accepted. */
  renew: () => Promise<UploadTarget>;
  onProgress?: (done: number, total: number) => void;
}

/**
 * PUTs a file to the storage as a stream. A broken transfer is repeated from the start, with a new URL if the old one has expired.
 * Returns the target that accepted the file.
 */
export async function upload(
  first: UploadTarget,
  file: string,
  sizeBytes: number,
  options: UploadOptions,
): Promise<UploadTarget> {
  let target = first;
  let refused = 0;
  for (let attempt = 1; ; attempt++) {
    let failure: unknown;
    try {
      const status = await put(target, file, sizeBytes, options);
      if (status >= 200 && status < 300) return target;
      if (isExpired(status)) {
        if (++refused >= MAX_REFUSED_URLS)
          throw new CliError(EXIT.unavailable, "URL_EXPIRED", `the storage does not accept the upload URL (${status})`);
        target = await options.renew();
      } else if (status < 500 && status !== 408 && status !== 429) {
        throw new CliError(EXIT.unavailable, "UPLOAD_REFUSED", `the storage refused the upload (${status})`);
      }
      failure = new Error(`status ${status}`);
    } catch (error) {
      if (options.signal.aborted) throw interrupted();
      if (error instanceof CliError || (error instanceof Error && "path" in error)) throw error;
      failure = error;
    }
    if (attempt >= MAX_TRIES) throw storageFailure("the upload", failure);
    await backOff(attempt, options.signal);
  }
}

/** Sends one PUT; resolves to the status. Signed URLs need a Content-Length, which `fetch` cannot send with a stream. */
function put(target: UploadTarget, file: string, sizeBytes: number, options: UploadOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const url = new URL(target.url);
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const headers = {
      "Content-Type": "application/octet-stream",
      ...target.headers,
      "Content-Length": String(sizeBytes),
    };
    const request = send(url, { method: "PUT", headers, signal: options.signal, timeout: IDLE_TIMEOUT_MS });
    const source = createReadStream(file, { highWaterMark: READ_BYTES, end: Math.max(sizeBytes - 1, 0) });
    let done = 0;
    const fail = (error: Error): void => {
      source.destroy();
      request.destroy();
      reject(error);
    };
    request.on("timeout", () => fail(new Error("no progress")));
    request.on("error", fail);
    source.on("error", fail);
    request.on("response", (response) => {
      // The status says all; the body might never end.
      response.on("error", () => undefined);
      response.destroy();
      source.destroy();
      resolve(response.statusCode ?? 0);
    });
    source.on("data", (part) => {
      done += part.length;
      options.onProgress?.(done, sizeBytes);
    });
    source.pipe(request);
  });
}
