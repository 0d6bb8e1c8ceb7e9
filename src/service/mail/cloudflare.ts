import { raceTimeout } from "../../lib/pause.ts";
import { type Mailer, MailError } from "./types.ts";

/** The subset of a `send_email` binding that the mailer uses. */
export interface EmailBinding {
  send(mail: { from: string; to: string; subject: string; text: string; html: string }): Promise<unknown>;
}

const TIMEOUT_SEC = 10;

/** Sends through Cloudflare Email Sending. */
export function createCloudflareMailer(email: EmailBinding, from: string): Mailer {
  return {
    maxSec: TIMEOUT_SEC,
    send: async ({ to, subject, text, html }) => {
      try {
        await raceTimeout(email.send({ from, to, subject, text, html }), TIMEOUT_SEC * 1_000);
      } catch (error) {
        throw new MailError("Cloudflare did not accept the message", { cause: error });
      }
    },
  };
}
