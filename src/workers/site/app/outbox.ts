/** Sending mail from the site Worker. */
import { createMailer, MailError, sendMails } from "../../../service/mail/index.ts";
import type { OutboxDeps } from "../../../service/mail/outbox.ts";
import type { DashboardContext } from "./context.ts";
import { DashboardError } from "./errors.ts";

/** The mailer. Throws 503 if the service has none: a message could never be sent. */
export function requireMailer(c: DashboardContext): OutboxDeps["mailer"] {
  try {
    return createMailer(c.env, fetch);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    c.get("log").error("mail_not_configured", error);
    throw new DashboardError("UNAVAILABLE", "the service cannot send mail: its operator must set MAIL_PROVIDER", {
      retryAfterSec: 60,
    });
  }
}

/**
 * Sends a queued message now; the Worker's schedule repeats what fails. Over a network, it is sent after the answer, so that the
 * answer's time does not tell whether there was a message. The local stack writes it before, so that whoever got the answer finds the file.
 */
export async function sendQueued(
  c: DashboardContext,
  mailer: OutboxDeps["mailer"],
  mailId: string | undefined,
): Promise<void> {
  if (mailId === undefined) return;
  const deps = { db: c.get("accounts"), encryptionKey: c.env.ENCRYPTION_KEY, mailer, log: c.get("log"), now: Date.now };
  const sending = sendMails(deps, mailId).catch((error: unknown) => c.get("log").error("outbox_failed", error));
  if (c.env.MAIL_PROVIDER === "local") await sending;
  else c.executionCtx.waitUntil(sending);
}
