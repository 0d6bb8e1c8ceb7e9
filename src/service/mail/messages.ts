/** The messages to users, each as text and as HTML. */
import type { Mail } from "./types.ts";

interface Content {
  /** Paragraph before the code or link. */
  intro: string;
  /** The code or the link; a message about a service without a configured address has neither. */
  focus?: { code: string } | { label: string; url: string } | undefined;
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

const OFF = "An owner can switch these messages off on the team's settings page.";

/** Message that a team's quota is nearly or wholly used. `end` is the day of its renewal, such as "December 1". */
export function quotaMail(
  to: string,
  { team, credits, limit, end, url }: { team: string; credits: number; limit: number; end: string; url?: string },
): Mail {
  const isOver = credits >= limit;
  const used = `${NUMBERS.format(credits)} of ${NUMBERS.format(limit)} credits`;
  return compose(
    to,
    `${team}: ${isOver ? "the quota of this month is used up" : "80 % of this month's quota is used"}`,
    {
      intro: `${team} has used ${used} of this month. ${
        isOver
          ? `Calls that cost credits are refused until ${end} (UTC).`
          : `When all are used, calls that cost credits are refused until ${end} (UTC).`
      }`,
      focus: url === undefined ? undefined : { label: "See what used them", url },
      outro: `The operator of the service can raise the quota. ${OFF}`,
    },
  );
}

/** Message that a run nobody watches has failed, with its reason, or that a later one has succeeded. */
export function runMail(
  to: string,
  { team, repo, branch, reason, url }: { team: string; repo: string; branch: string; reason?: string; url?: string },
): Mail {
  const failed = reason !== undefined;
  return compose(to, `${repo} (${branch}): ${failed ? "indexing fails" : "indexing works again"}`, {
    intro: failed
      ? `A push to ${branch} of ${repo} in ${team} could not be indexed: ${reason} Searches show the last commit that could.`
      : `${branch} of ${repo} in ${team} has been indexed again.`,
    focus: url === undefined ? undefined : { label: failed ? "See the run" : "See the repository", url },
    outro: `${failed ? "There is no further message before a run of the branch succeeds. " : ""}${OFF}`,
  });
}

const NUMBERS = new Intl.NumberFormat("en");

function compose(to: string, subject: string, { intro, focus, outro }: Content): Mail {
  const focusText = focus === undefined ? "" : "code" in focus ? focus.code : focus.url;
  const focusHtml =
    focus === undefined
      ? ""
      : "code" in focus
        ? `<p style="font:600 28px/1.4 ui-monospace,Menlo,monospace;letter-spacing:.2em;margin:24px 0">${focus.code}</p>`
        : `<p style="margin:24px 0"><a href="${escape(focus.url)}" style="background:#1d4ed8;color:#fff;padding:10px 18px;border-radius:6px;text-decoration:none">${escape(focus.label)}</a></p><p>${escape(focus.url)}</p>`;
  return {
    to,
    // Keeps names from injecting headers.
    subject: subject.replace(/\s+/g, " "),
    text: `${intro}\n\n${focusText === "" ? "" : `    ${focusText}\n\n`}${outro}\n`,
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
