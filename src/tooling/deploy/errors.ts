import { OperatorError } from "../errors.ts";

/** A platform's API rejected a request. The message quotes the platform; it never contains credentials. */
export class PlatformError extends OperatorError {
  /** HTTP status of the answer. */
  readonly status: number;
  /** Cloudflare's codes of what it objects to; empty for other platforms. */
  readonly codes: readonly number[];

  constructor(message: string, status: number, codes: readonly number[] = []) {
    super(message);
    this.status = status;
    this.codes = codes;
  }
}

/** The answer to a request was lost, or was a failure of the platform: the request may have been carried out. */
export class LostAnswerError extends OperatorError {}
