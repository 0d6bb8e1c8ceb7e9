/** Creates the mailer that MAIL_PROVIDER selects. */
import { createCloudflareMailer, type EmailBinding } from "./cloudflare.ts";
import { createLocalMailer, type MailboxBinding } from "./local.ts";
import { createResendMailer } from "./resend.ts";
import { MailError, type Mailer } from "./types.ts";

interface MailEnv {
  /** `local`, `cloudflare`, `resend`, or `none`. */
  MAIL_PROVIDER: string;
  /** Sender, such as `Code Context <noreply@example.com>`. */
  MAIL_FROM: string;
  MAIL_API_KEY?: string;
  MAIL_BASE_URL?: string;
  /** The `send_email` binding of a deployment. */
  EMAIL?: EmailBinding;
  /** Mailbox of the local stack, which stores messages as files. */
  MAILBOX?: MailboxBinding;
}

/** Creates the configured mailer. Throws `MailError`, naming the variable, if the configuration is invalid. */
export function createMailer(env: MailEnv, fetcher: typeof fetch): Mailer {
  switch (env.MAIL_PROVIDER) {
    case "local":
      if (!env.MAILBOX) throw new MailError("MAIL_PROVIDER: local works in the local stack only");
      return createLocalMailer(env.MAILBOX, requireSender(env));
    case "cloudflare":
      if (!env.EMAIL) throw new MailError("MAIL_PROVIDER: cloudflare needs the send_email binding EMAIL");
      return createCloudflareMailer(env.EMAIL, requireSender(env));
    case "resend":
      if (!env.MAIL_API_KEY) throw new MailError("MAIL_API_KEY: is needed for MAIL_PROVIDER resend");
      return createResendMailer({
        apiKey: env.MAIL_API_KEY,
        from: requireSender(env),
        fetch: fetcher,
        ...(env.MAIL_BASE_URL ? { baseUrl: env.MAIL_BASE_URL } : {}),
      });
    default:
      throw new MailError(`MAIL_PROVIDER: expected local, cloudflare or resend, not "${env.MAIL_PROVIDER}"`);
  }
}

function requireSender(env: MailEnv): string {
  if (env.MAIL_FROM) return env.MAIL_FROM;
  throw new MailError("MAIL_FROM: set the sender's address, such as Code Context <noreply@example.com>");
}
