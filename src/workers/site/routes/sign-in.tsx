/** Signing in and out. */
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { Hono } from "hono";
import { sealMail, signInMail } from "../../../service/mail/index.ts";
import {
  checkEmail,
  CODE_MINUTES,
  finishSignIn,
  type KnownBrowser,
  readBrowserMark,
  revokeSession,
  startSignIn,
} from "../../../service/users/index.ts";
import { done, readFields } from "../app/answers.tsx";
import type { DashboardContext, DashboardHono } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { BROWSER_COOKIE, clearSessionCookie, openBrowserSession, takeOrRefuse } from "../app/guards.ts";
import { forgetKeptForm } from "../app/kept-form.ts";
import { nextPath } from "../app/next-path.ts";
import { requireMailer, sendQueued } from "../app/outbox.ts";
import { settingsOf, siteUrlOf } from "../app/settings.ts";
import { clientAddress } from "../../../service/gate/proxies.ts";
import { sourceOf } from "../../../service/gate/source.ts";
import { githubSignIn, githubSignInPath } from "./github-sign-in.tsx";
import { gatePage } from "../views/layout.tsx";
import { Field, Form } from "../views/parts.tsx";

const PENDING_COOKIE = "cc_pending";
const DAY_MS = 86_400_000;

export const signInPages = new Hono<DashboardHono>();
export const signInApi = new Hono<DashboardHono>();

signInPages.get("/sign-in", async (c) => {
  const next = nextPath(c.req.query("next"));
  if (c.get("session")) return c.redirect(next, 303);
  const github = githubSignIn(c);
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
          <button type="submit" class="primary">
            Send me a code
          </button>
        </Form>
        {github && (
          <a class="button other-way" href={githubSignInPath(next)}>
            Sign in with GitHub
          </a>
        )}
      </div>
      <p class="soft small">
        {settingsOf(c.env).signUp === "open"
          ? "New here? The same form creates your account."
          : "A code is sent only to people with an account, an invitation, or an address that the operator has admitted."}
      </p>
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
              type="text"
              name="code"
              class="code-input"
              inputmode="numeric"
              autocomplete="one-time-code"
              maxlength={11}
              required
              autofocus
            />
          </div>
          <button type="submit" class="primary">
            Sign in
          </button>
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
  const { proxies, signUp, hasSecureCookies } = settingsOf(c.env);
  const mailer = requireMailer(c);
  const source = sourceOf(clientAddress(c.req.raw.headers, proxies));
  await takeOrRefuse(c, { kind: "ip", id: source }, "sign_in_source");
  await takeOrRefuse(c, { kind: "email", id: email }, "sign_in_email");
  const site = siteUrlOf(c.env, c.req.raw);
  const { pending, mailId } = await startSignIn(c.get("accounts"), c.env.ENCRYPTION_KEY, {
    email,
    signUp,
    compose: (code) =>
      sealMail(c.env.ENCRYPTION_KEY, signInMail(email, { code, minutes: CODE_MINUTES, site }), {
        kind: "sign_in_code",
        usefulSec: CODE_MINUTES * 60,
      }),
  });
  await sendQueued(c, mailer, mailId);
  setCookie(c, PENDING_COOKIE, pending, {
    path: "/app",
    httpOnly: true,
    secure: hasSecureCookies,
    sameSite: "Lax",
    maxAge: CODE_MINUTES * 60,
  });
  return done(c, { to: `/app/sign-in/code?email=${encodeURIComponent(email)}&next=${encodeURIComponent(next)}` });
});

signInApi.post("/sign-in/verify", async (c) => {
  const fields = await readFields(c);
  const result = await finishSignIn(c.get("accounts"), c.env.ENCRYPTION_KEY, {
    pending: getCookie(c, PENDING_COOKIE),
    code: fields.text("code"),
    userAgent: c.req.header("User-Agent") ?? "",
    signUp: settingsOf(c.env).signUp,
    browser: knownBrowser(c),
  });
  if (result.outcome === "capped") {
    const retryAfterSec = Math.ceil((DAY_MS - (Date.now() % DAY_MS)) / 1_000);
    throw new DashboardError(
      "RATE_LIMITED",
      "too many wrong codes were entered for this address today: use a browser in which you have signed in before, or try again tomorrow",
      { retryAfterSec },
    );
  }
  if (result.outcome === "refused") {
    throw new DashboardError("FORBIDDEN", "this address is not invited any more: ask for an invitation");
  }
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
  const secure = settingsOf(c.env).hasSecureCookies;
  deleteCookie(c, PENDING_COOKIE, { path: "/app", secure });
  openBrowserSession(c, result);
  return done(c, { to: nextPath(fields.text("next")) });
});

signInApi.post("/sign-out", async (c) => {
  const session = c.get("session");
  if (session) await revokeSession(c.get("accounts"), session.user.id, session.id);
  clearSessionCookie(c);
  forgetKeptForm(c);
  return done(c, { to: "/app/sign-in", notice: "You are signed out." });
});

/** The user who has signed in with this browser, now or before. */
function knownBrowser(c: DashboardContext): KnownBrowser | undefined {
  const session = c.get("session");
  if (session) return { userId: session.user.id, id: session.id };
  return readBrowserMark(c.env.ENCRYPTION_KEY, getCookie(c, BROWSER_COOKIE));
}
