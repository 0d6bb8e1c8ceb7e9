/** The messages to users, each as text and as HTML. */
import type { Mail } from "./types.ts";

interface Content {
  /** Paragraph before the code or link. */
  intro: string;
  /** The code or the link. */
  focus: { code: string } | { label: string; url: string };
  outro: string;
}

/** Message with a sign-in code. */
export function signInMail(to: string, { code, minutes, site }: { code: string; minutes: number; site: string }): Mail {
  return compose(to, `${code} is your Code Context code`, {
    intro: `Enter this code at ${site} to sign in to Code Context:`,
    focus: { code },
    outro: `It is good for ${minutes} minutes, in the browser that asked for it. If that was not you, ignore this message: nobody can sign in without the code.`,
  });
}

/** Message with an invitation to a team. */
export function invitationMail(
  to: string,
  { team, inviter, role, url, days }: { team: string; inviter: string; role: string; url: string; days: number },
): Mail {
  return compose(to, `${inviter} invites you to ${team} on Code Context`, {
    intro: `${inviter} invites you to join ${team} on Code Context as ${role === "member" ? "a" : "an"} ${role}.`,
    focus: { label: "Accept the invitation", url },
    outro: `The link is good for ${days} days and for ${to} only. If you do not know ${inviter}, ignore this message.`,
  });
}

function compose(to: string, subject: string, { intro, focus, outro }: Content): Mail {
  const focusText = "code" in focus ? focus.code : focus.url;
  const focusHtml =
    "code" in focus
      ? `<p style="font:600 28px/1.4 ui-monospace,Menlo,monospace;letter-spacing:.2em;margin:24px 0">${focus.code}</p>`
      : `<p style="margin:24px 0"><a href="${escape(focus.url)}" style="background:#1d4ed8;color:#fff;padding:10px 18px;border-radius:6px;text-decoration:none">${escape(focus.label)}</a></p><p>${escape(focus.url)}</p>`;
  return {
    to,
    // Keeps names from injecting headers.
    subject: subject.replace(/\s+/g, " "),
    text: `${intro}\n\n    ${focusText}\n\n${outro}\n`,
    html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escape(subject)}</title></head>
<body style="font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:2rem auto;padding:0 1rem">
<p>${escape(intro)}</p>
${focusHtml}
<p style="opacity:.75">${escape(outro)}</p>
</body>
</html>
`,
  };
}

function escape(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
