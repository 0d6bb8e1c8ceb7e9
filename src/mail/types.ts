/** One message to one person, as plain text and as HTML with the same content. */
export interface Mail {
  /** A checked address (see `checkEmail`). */
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface Mailer {
  /** Hands a message over for delivery. Throws {@link MailError}. */
  send(mail: Mail): Promise<void>;
}

/** The message was not handed over. The text is for the log, not for the person who waits. */
export class MailError extends Error {
  override readonly name = "MailError";
}
