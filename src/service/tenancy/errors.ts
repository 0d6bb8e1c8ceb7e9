/** Why a change of a tenant, workspace or credential was refused. */
export type TenancyErrorCode = "INVALID" | "NOT_FOUND" | "CONFLICT" | "FORBIDDEN";

/** A refused change; the message names the field and may be shown to clients. */
export class TenancyError extends Error {
  override readonly name = "TenancyError";
  readonly code: TenancyErrorCode;
  /** The rejected field, if there is one. */
  readonly field: string | undefined;

  constructor(code: TenancyErrorCode, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
