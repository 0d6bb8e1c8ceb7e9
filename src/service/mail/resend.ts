import { backoffMs } from "../../lib/backoff.ts";
import { pause } from "../../lib/pause.ts";
import { type Mailer, MailError } from "./types.ts";

const DEFAULT_BASE_URL = "https://api.resend.com";
const TIMEOUT_MS = 10_000;
const MAX_ATTEMPTS = 3;
const BACKOFF = { baseMs: 300, capMs: 3_000 };

interface ResendOptions {
  apiKey: string;
  from: string;
  fetch: typeof fetch;
  baseUrl?: string;
}

/** Sends through Resend's HTTP API. All attempts have the message's id as idempotency key, so that a retry never sends twice. */
export function createResendMailer(options: ResendOptions): Mailer {
  return {
    maxSec: (MAX_ATTEMPTS * (TIMEOUT_MS + BACKOFF.capMs)) / 1_000,
    send: async ({ to, subject, text, html }, { id }) => {
      const body = JSON.stringify({ from: options.from, to: [to], subject, text, html });
      for (let attempt = 1; ; attempt++) {
        const failure = await post(options, body, id);
        if (failure === undefined) return;
        if (!failure.isTransient || attempt === MAX_ATTEMPTS) throw new MailError(failure.reason);
        await pause(backoffMs(attempt, BACKOFF));
      }
    },
  };
}

async function post(
  { apiKey, fetch, baseUrl = DEFAULT_BASE_URL }: ResendOptions,
  body: string,
  idempotencyKey: string,
): Promise<{ reason: string; isTransient: boolean } | undefined> {
  let response: Response;
  try {
    response = await fetch(`${baseUrl}/emails`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${apiKey}`,
        "Content-Type": "application/json",
        "Idempotency-Key": idempotencyKey,
        // Resend answers 403 to requests without one.
        "User-Agent": "code-context",
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
  } catch (error) {
    return { reason: `Resend cannot be reached (${error instanceof Error ? error.name : "error"})`, isTransient: true };
  }
  if (response.ok) return undefined;
  const { status } = response;
  return { reason: `Resend answered ${status}`, isTransient: status === 429 || status >= 500 };
}
