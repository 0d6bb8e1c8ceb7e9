import { createReadStream } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { CliError, EXIT } from "../exit-codes.ts";
import { backOff, interrupted, isExpired, storageFailure } from "./retry.ts";

const IDLE_TIMEOUT_MS = 60_000;
const MAX_TRIES = 5;
/** Fresh URLs in a row that the storage does not accept. */
const MAX_REFUSED_URLS = 3;
const READ_BYTES = 256 * 1024;

export interface UploadTarget {
  url: string;
  headers: Record<string, string>;
}

export interface UploadOptions {
  signal: AbortSignal;
  /** Requests a new URL when the current one is no longer accepted. */
  renew: () => Promise<UploadTarget>;
  onProgress?: (done: number, total: number) => void;
}

/**
 * PUTs a file straight to the storage, read as it is sent. A broken transfer is repeated as a whole, since a signed PUT
 * takes all or nothing, with a new URL where the old one has expired. Returns the target that took the file.
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

/** One PUT; resolves to the status. `fetch` cannot send a stream of known length, which signed URLs ask for. */
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
      response.on("error", fail);
      response.on("end", () => {
        source.destroy();
        resolve(response.statusCode ?? 0);
      });
      response.resume();
    });
    source.on("data", (part) => {
      done += part.length;
      options.onProgress?.(done, sizeBytes);
    });
    source.pipe(request);
  });
}
