/** Why a change of a user, membership or invitation was refused. */
type UserErrorCode = "INVALID" | "NOT_FOUND" | "CONFLICT" | "FORBIDDEN";

/** A refused change; the message may be shown to the user. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly code: UserErrorCode;
  /** The rejected field, if there is one. */
  readonly field: string | undefined;

  constructor(code: UserErrorCode, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
