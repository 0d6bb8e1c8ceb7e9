/** A failure that the operator can mend: the message is one line that names the cause and the remedy. */
export class DeployError extends Error {
  override readonly name = "DeployError";
}

/** A platform's API refused a request. The message has the platform's own words; credentials are never part of it. */
export class ApiError extends DeployError {
  /** HTTP status of the answer. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}
