/** Signing in and out. */
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { Hono } from "hono";
import { createMailer, MailError, signInMail } from "../../mail/index.ts";
import { checkEmail, CODE_MINUTES, finishSignIn, revokeSession, startSignIn } from "../../users/index.ts";
import { done, readFields } from "../app/answers.tsx";
import type { DashboardContext, DashboardHono } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { clearSessionCookie, setSessionCookie, takeOrRefuse } from "../app/guards.ts";
import { sourceOf } from "../../gate/source.ts";
import { gatePage } from "../views/layout.tsx";
import { Field, Form } from "../views/parts.tsx";

const PENDING_COOKIE = "cc_pending";

export const signInPages = new Hono<DashboardHono>();
export const signInApi = new Hono<DashboardHono>();

signInPages.get("/sign-in", async (c) => {
  const next = nextPath(c.req.query("next"));
  if (c.get("session")) return c.redirect(next, 303);
  return gatePage(
    c,
    { title: "Sign in" },
    <>
      <div class="panel">
        <h1>Sign in</h1>
        <p class="soft">We send a six-digit code to your e-mail address. There is no password.</p>
        <Form action="/app/api/sign-in">
          <input type="hidden" name="next" value={next} />
          <Field
            label="E-mail address"
            name="email"
            type="email"
            value={c.req.query("email") ?? ""}
            autocomplete="email"
            required
            maxlength={254}
          />
          <button class="primary">Send me a code</button>
        </Form>
      </div>
      <p class="soft small">New here? The same form creates your account.</p>
    </>,
  );
});

signInPages.get("/sign-in/code", async (c) => {
  const next = nextPath(c.req.query("next"));
  if (c.get("session")) return c.redirect(next, 303);
  const email = c.req.query("email") ?? "";
  return gatePage(
    c,
    { title: "Enter the code" },
    <>
      <div class="panel">
        <h1>Enter the code</h1>
        <p class="soft">
          We sent a code to <strong>{email || "your address"}</strong>. It is good for {CODE_MINUTES} minutes, in this
          browser.
        </p>
        <Form action="/app/api/sign-in/verify">
          <input type="hidden" name="next" value={next} />
          <div class="field">
            <label for="field-code">Six-digit code</label>
            <input
              id="field-code"
              name="code"
              class="code-input"
              inputmode="numeric"
              autocomplete="one-time-code"
              maxlength={11}
              required
              autofocus
            />
          </div>
          <button class="primary">Sign in</button>
        </Form>
      </div>
      <p class="soft small">
        No message? Look into the spam folder, or{" "}
        <a href={`/app/sign-in?email=${encodeURIComponent(email)}&next=${encodeURIComponent(next)}`}>
          send another code
        </a>
        .
      </p>
    </>,
  );
});

/** Sends a code. The answer is the same whether or not the address is known. */
signInApi.post("/sign-in", async (c) => {
  const fields = await readFields(c);
  const email = checkEmail(fields.text("email"));
  const next = nextPath(fields.text("next"));
  await takeOrRefuse(c, { kind: "ip", id: sourceOf(c.req.header("CF-Connecting-IP")) }, "sign_in_source");
  await takeOrRefuse(c, { kind: "email", id: email }, "sign_in_email");
  const { pending, code } = await startSignIn(c.get("db"), c.env.ENCRYPTION_KEY, email);
  const { host } = new URL(c.req.url);
  await sendOrRefuse(c, signInMail(email, { code, minutes: CODE_MINUTES, site: host }));
  setCookie(c, PENDING_COOKIE, pending, {
    path: "/app",
    httpOnly: true,
    secure: true,
    sameSite: "Lax",
    maxAge: CODE_MINUTES * 60,
  });
  return done(c, { to: `/app/sign-in/code?email=${encodeURIComponent(email)}&next=${encodeURIComponent(next)}` });
});

signInApi.post("/sign-in/verify", async (c) => {
  const fields = await readFields(c);
  const result = await finishSignIn(c.get("db"), c.env.ENCRYPTION_KEY, {
    pending: getCookie(c, PENDING_COOKIE),
    code: fields.text("code"),
    userAgent: c.req.header("User-Agent") ?? "",
  });
  if (result.outcome === "wrong") {
    const { guessesLeft: left } = result;
    throw new DashboardError(
      "INVALID_BODY",
      `code: this is not the code; ${left} ${left === 1 ? "try" : "tries"} left`,
      {
        field: "code",
      },
    );
  }
  if (result.outcome === "over") {
    throw new DashboardError("INVALID_BODY", "code: this code is no longer valid; request a new one", {
      field: "code",
    });
  }
  deleteCookie(c, PENDING_COOKIE, { path: "/app", secure: true });
  setSessionCookie(c, result.session);
  return done(c, { to: nextPath(fields.text("next")) });
});

signInApi.post("/sign-out", async (c) => {
  const session = c.get("session");
  if (session) await revokeSession(c.get("db"), session.user.id, session.id);
  clearSessionCookie(c);
  return done(c, { to: "/app/sign-in", notice: "You are signed out." });
});

/** Sends a message. If the mailer fails, throws 503 and logs the cause. */
export async function sendOrRefuse(
  c: DashboardContext,
  mail: Parameters<ReturnType<typeof createMailer>["send"]>[0],
): Promise<void> {
  try {
    await createMailer(c.env, fetch).send(mail);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    c.get("log").error("mail_not_sent", error);
    throw new DashboardError("UNAVAILABLE", "the message could not be sent; try again", { retryAfterSec: 10 });
  }
}

/** The page to show after signing in; limited to pages of this dashboard. */
export function nextPath(wanted: string | undefined): string {
  return wanted !== undefined && /^\/app(?:\/[\w./~%?&=+-]*)?$/.test(wanted) && !wanted.startsWith("/app/api/")
    ? wanted
    : "/app";
}
