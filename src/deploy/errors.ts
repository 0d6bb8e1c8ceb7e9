/** A failure that the operator can mend: the message is one line that names the cause and the remedy. */
export class DeployError extends Error {
  override readonly name = "DeployError";
}

/** A platform's API refused a request. The message has the platform's own words; credentials are never part of it. */
export class ApiError extends DeployError {
  /** HTTP status of the answer. */
  readonly status: number;
  /** The platform's error codes, such as Cloudflare's 10006 for a missing bucket. */
  readonly codes: readonly number[];

  constructor(message: string, status: number, codes: readonly number[] = []) {
    super(message);
    this.status = status;
    this.codes = codes;
  }
}
