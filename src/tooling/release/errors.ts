/** A release that cannot go on; the message says what to do. */
export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
}
