/** A message to one recipient, as plain text and as HTML. */
export interface Mail {
  /** A validated address (see `checkEmail`). */
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** Identifies a message, so that a second attempt is recognised as one. */
export interface Delivery {
  id: string;
  /** When the message was written. */
  at: Date;
}

export interface Mailer {
  /** Longest duration of `send`. */
  readonly maxSec: number;
  /** Submits a message for delivery. Throws {@link MailError}. */
  send(mail: Mail, delivery: Delivery): Promise<void>;
}

/** The message could not be submitted. The text is for the log, not for users. */
export class MailError extends Error {
  override readonly name = "MailError";
}
