/** Why a change of people, memberships or invitations was refused. */
export type UserErrorCode = "INVALID" | "NOT_FOUND" | "CONFLICT" | "FORBIDDEN";

/** A refused change; the message is fit for the person who asked for it. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly code: UserErrorCode;
  /** The rejected field, where there is one. */
  readonly field: string | undefined;

  constructor(code: UserErrorCode, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
