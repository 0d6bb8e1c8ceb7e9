/** Why a change of tenants, workspaces or credentials was refused. */
export type TenancyErrorCode = "INVALID" | "NOT_FOUND" | "CONFLICT";

/** A refused change; the message names the field and is fit for strangers. */
export class TenancyError extends Error {
  override readonly name = "TenancyError";
  readonly code: TenancyErrorCode;
  /** The rejected field, where there is one. */
  readonly field: string | undefined;

  constructor(code: TenancyErrorCode, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
