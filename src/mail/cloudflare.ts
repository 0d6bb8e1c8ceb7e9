import { raceTimeout } from "../pause.ts";
import { type Mailer, MailError } from "./types.ts";

/** The subset of a `send_email` binding that the mailer uses. */
export interface EmailBinding {
  send(mail: { from: string; to: string; subject: string; text: string; html: string }): Promise<unknown>;
}

const TIMEOUT_MS = 10_000;

/** Sends through Cloudflare Email Sending. */
export function createCloudflareMailer(email: EmailBinding, from: string): Mailer {
  return {
    send: async ({ to, subject, text, html }) => {
      try {
        await raceTimeout(email.send({ from, to, subject, text, html }), TIMEOUT_MS);
      } catch (error) {
        throw new MailError("Cloudflare did not accept the message", { cause: error });
      }
    },
  };
}
