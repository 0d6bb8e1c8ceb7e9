import { createHash, type Hash } from "node:crypto";
import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { fileChecksum } from "../machine/checksum.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { makeFolder } from "../machine/folders.ts";
import { headerOf, httpDownload } from "../remote/http.ts";
import { backOff, interrupted, isExpired, storageFailure } from "./retry.ts";

/** A transfer without data for this long is aborted and resumed. */
const IDLE_TIMEOUT_MS = 30_000;
/** Consecutive attempts without data after which the download fails. */
const MAX_BARREN_TRIES = 5;
/** Limit of an artifact whose manifest does not say its size. */
const MAX_UNDECLARED_BYTES = 4 * 1024 ** 3;
/** Limit of signed URLs that one download requests. */
const MAX_URLS = 4;

export interface DownloadSource {
  url: string;
  /** `sha256:<hex>` of the whole file. */
  checksum: string;
  sizeBytes: number | undefined;
}

interface DownloadOptions {
  signal: AbortSignal;
  /** Requests a new URL when the current one is no longer accepted. */
  renew: () => Promise<DownloadSource>;
  onProgress?: (done: number, total: number) => void;
}

/**
 * Downloads to `file`, resuming a partial one, and verifies the checksum. A broken transfer is resumed by a retry or by the next
 * call; a file with a wrong checksum is removed.
 */
export async function download(first: DownloadSource, file: string, options: DownloadOptions): Promise<void> {
  makeFolder(dirname(file));
  const resumed = sizeOf(file) > 0;
  const digest = new Digest();
  await fetchAll(first, file, digest, options);
  if ((await digest.of(file)) === first.checksum) return;
  rmSync(file, { force: true });
  if (resumed) {
    // The error may be in the part from an earlier call.
    await fetchAll(await renewed(first, options), file, digest, options);
    if ((await digest.of(file)) === first.checksum) return;
    rmSync(file, { force: true });
  }
  throw new CliError(
    EXIT.integrity,
    "CHECKSUM_MISMATCH",
    "the downloaded snapshot does not match its checksum; it was discarded",
  );
}

async function fetchAll(first: DownloadSource, file: string, digest: Digest, options: DownloadOptions): Promise<void> {
  let source = first;
  let barren = 0;
  for (let urls = 1; ;) {
    const before = sizeOf(file);
    const outcome = await fetchPart(source, file, digest, options);
    if (outcome === "done") return;
    if (outcome === "expired") {
      if (urls >= MAX_URLS) {
        throw new CliError(EXIT.unavailable, "URL_EXPIRED", "the storage does not accept the download URL");
      }
      source = await renewed(first, options);
      urls++;
      // No wait for the first new URL, whose request was paced.
      if (urls === 2) continue;
      await backOff(urls - 2, options.signal);
      continue;
    }
    barren = sizeOf(file) > before ? 0 : barren + 1;
    if (barren >= MAX_BARREN_TRIES) throw storageFailure("the download", outcome.error);
    await backOff(barren + 1, options.signal);
  }
}

async function renewed(first: DownloadSource, options: DownloadOptions): Promise<DownloadSource> {
  const source = await options.renew();
  if (source.checksum === first.checksum) return source;
  throw new CliError(EXIT.busy, "SNAPSHOT_REPLACED", "a newer snapshot was published meanwhile; pull again");
}

type PartOutcome = "done" | "expired" | { error: unknown };

/** Sends one request for the rest of the file. */
async function fetchPart(
  source: DownloadSource,
  file: string,
  digest: Digest,
  options: DownloadOptions,
): Promise<PartOutcome> {
  const have = sizeOf(file);
  if (source.sizeBytes !== undefined && have >= source.sizeBytes) return "done";
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(new Error("no data")), IDLE_TIMEOUT_MS);
  try {
    const response = await httpDownload(source.url, {
      method: "GET",
      headers: have > 0 ? { Range: `bytes=${have}-` } : {},
      signal: AbortSignal.any([options.signal, idle.signal]),
    });
    const status = response.statusCode ?? 0;
    // Not drained: it may never end.
    if (status !== 200 && status !== 206) response.destroy();
    if (isExpired(status)) return "expired";
    if (status === 416) {
      // 416: the file is complete, or a part of something else.
      if (source.sizeBytes === undefined) return "done";
      rmSync(file, { force: true });
      return { error: new Error("range not satisfiable") };
    }
    if (status !== 200 && status !== 206) return { error: new Error(`status ${status}`) };
    const append = status === 206 && headerOf(response, "Content-Range")?.startsWith(`bytes ${have}-`) === true;
    const handle = openSync(file, append ? "a" : "w", 0o600);
    try {
      let done = append ? have : 0;
      const total = source.sizeBytes ?? done + Number(headerOf(response, "Content-Length") ?? 0);
      for await (const part of response as AsyncIterable<Buffer>) {
        timer.refresh();
        digest.update(part, done);
        // Synchronous, because writing to the page cache is faster than a thread switch.
        for (let at = 0; at < part.byteLength;) at += writeSync(handle, part, at);
        done += part.byteLength;
        options.onProgress?.(done, total);
        if (done > (source.sizeBytes ?? MAX_UNDECLARED_BYTES)) return "done";
      }
    } finally {
      closeSync(handle);
    }
    return source.sizeBytes === undefined || sizeOf(file) >= source.sizeBytes
      ? "done"
      : { error: new Error("the connection was closed before the whole file had arrived") };
  } catch (error) {
    if (options.signal.aborted) throw interrupted();
    if (error instanceof Error && "syscall" in error && "path" in error) throw error;
    if (isDiskError(error)) throw error;
    return { error };
  } finally {
    clearTimeout(timer);
  }
}

function isDiskError(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    ["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EIO"].includes(String(error.code))
  );
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** SHA-256 of a file, computed during the download if it is written from start to end. */
class Digest {
  #hash: Hash = createHash("sha256");
  #bytes = 0;

  /** Adds bytes that were written at an offset. */
  update(part: Uint8Array, offset: number): void {
    if (offset === 0) {
      this.#hash = createHash("sha256");
      this.#bytes = 0;
    }
    if (offset !== this.#bytes) return;
    this.#hash.update(part);
    this.#bytes += part.byteLength;
  }

  /** `sha256:<hex>` of the file, which is read again unless all of it was passed to `update`. */
  async of(file: string): Promise<string> {
    const all = this.#bytes === sizeOf(file);
    this.#bytes = -1;
    return all ? `sha256:${this.#hash.digest("hex")}` : fileChecksum(file);
  }
}
