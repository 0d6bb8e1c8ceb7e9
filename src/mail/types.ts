/** A message to one recipient, as plain text and as HTML. */
export interface Mail {
  /** A validated address (see `checkEmail`). */
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface Mailer {
  /** Submits a message for delivery. Throws {@link MailError}. */
  send(mail: Mail): Promise<void>;
}

/** The message could not be submitted. The text is for the log, not for users. */
export class MailError extends Error {
  override readonly name = "MailError";
}
