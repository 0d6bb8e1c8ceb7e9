import { MAILBOX_RECIPIENT_HEADER, toEml } from "./eml.ts";
import { type Mailer, MailError } from "./types.ts";

/** The local stack's mailbox service, which stores each message as a file. */
export interface MailboxBinding {
  fetch(
    url: string,
    init: { method: string; headers: Record<string, string>; body: string },
  ): Promise<{ ok: boolean; status: number }>;
}

/** Sends messages to the local stack, which writes them to `DATA_DIR/mail/<time>-<address>.eml`. */
export function createLocalMailer(mailbox: MailboxBinding, from: string): Mailer {
  return {
    send: async (mail) => {
      const response = await mailbox.fetch("http://mailbox/", {
        method: "POST",
        headers: { [MAILBOX_RECIPIENT_HEADER]: mail.to, "Content-Type": "message/rfc822" },
        body: toEml(mail, from, new Date()),
      });
      if (!response.ok) throw new MailError(`the local mailbox answered ${response.status}`);
    },
  };
}
