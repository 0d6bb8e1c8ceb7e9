import { MAILBOX_RECIPIENT_HEADER, MAILBOX_TIME_HEADER, toEml } from "./eml.ts";
import { raceTimeout } from "../../lib/pause.ts";
import { type Mailer, MailError } from "./types.ts";

const TIMEOUT_SEC = 5;

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
    maxSec: TIMEOUT_SEC,
    send: async (mail, delivery) => {
      const writing = mailbox.fetch("http://mailbox/", {
        method: "POST",
        headers: {
          [MAILBOX_RECIPIENT_HEADER]: mail.to,
          [MAILBOX_TIME_HEADER]: delivery.at.toISOString(),
          "Content-Type": "message/rfc822",
        },
        body: toEml(mail, from, delivery),
      });
      const response = await raceTimeout(writing, TIMEOUT_SEC * 1_000);
      if (!response.ok) throw new MailError(`the local mailbox answered ${response.status}`);
    },
  };
}
