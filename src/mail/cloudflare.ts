import { withTimer } from "../time-limit.ts";
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
        await withTimer(
          TIMEOUT_MS,
          () => email.send({ from, to, subject, text, html }),
          () => {
            throw new MailError(`Cloudflare did not answer within ${TIMEOUT_MS / 1_000} s`);
          },
        );
      } catch (error) {
        if (error instanceof MailError) throw error;
        throw new MailError("Cloudflare refused the message", { cause: error });
      }
    },
  };
}
