import { eq, sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { mails } from "../../../src/service/db/people-schema.ts";
import { createLogger } from "../../../src/lib/log.ts";
import { type Mail, MailError, type Mailer, sealMail, sendMails } from "../../../src/service/mail/index.ts";
import { sweepMails } from "../../../src/service/mail/outbox.ts";
import { eraseTenant } from "../../../src/service/tenancy/erase.ts";
import { invite, renewInvitation, revokeInvitation } from "../../../src/service/users/index.ts";
import { db } from "../support/tenants.ts";
import { KEY, newEmail, team } from "./people.ts";

interface Sent extends Mail {
  id: string;
  at: Date;
}

/** An outbox of one test: other tests' messages stay where they are, because every message is sent by its id. */
function outbox(fails: () => boolean = () => false) {
  const sent: Sent[] = [];
  const mailer: Mailer = {
    maxSec: 1,
    send: async (mail, delivery) => {
      if (fails()) throw new MailError("the provider is away");
      sent.push({ ...mail, ...delivery });
    },
  };
  const log = createLogger({});
  return { sent, send: (id: string) => sendMails({ db, encryptionKey: KEY, mailer, log, now: Date.now }, id) };
}

const compose = ({ email, token }: { email: string; token: string }) =>
  sealMail(KEY, { to: email, subject: "s", text: token, html: "h" }, { kind: "invitation", usefulSec: 60 });

async function invited() {
  const { tenantId, people } = await team("owner");
  const email = newEmail();
  const by = people.owner;
  const sent = await invite(db, { tenantId, email, role: "member", by, compose });
  return { ...sent, tenantId, by, mailId: sent.mailId ?? "" };
}

const rowOf = async (id: string) => (await db.select().from(mails).where(eq(mails.id, id)))[0];
const due = (id: string) =>
  db
    .update(mails)
    .set({ dueAt: sql`now()` })
    .where(eq(mails.id, id));

it("has the message of an invitation as soon as there is one, sealed, and sends it once", async () => {
  const { mailId, email, token } = await invited();
  const queued = await rowOf(mailId);
  expect(queued).toMatchObject({ kind: "invitation", attempts: 0, sentAt: null });
  expect(JSON.stringify(queued)).not.toMatch(new RegExp(`${token}|${email}`));
  const { sent, send } = outbox();
  const reports = await Promise.all([send(mailId), send(mailId), send(mailId)]);
  expect(reports.reduce((sum, report) => sum + report.sent, 0)).toBe(1);
  expect(sent).toEqual([{ to: email, subject: "s", text: token, html: "h", id: mailId, at: expect.any(Date) as Date }]);
  expect(await rowOf(mailId)).toMatchObject({ sealed: null, sentAt: expect.any(Date) as Date });
});

it("takes a message over from a sender that was killed, with the same id, after its lease", async () => {
  const { mailId } = await invited();
  const never = new Promise<never>(() => {});
  const killed: Mailer = { maxSec: 1, send: () => never };
  void sendMails({ db, encryptionKey: KEY, mailer: killed, log: createLogger({}), now: Date.now }, mailId);
  await expect.poll(async () => (await rowOf(mailId))?.attempts).toBe(1);
  const { sent, send } = outbox();
  expect(await send(mailId)).toEqual({ sent: 0, failed: 0 });
  await due(mailId);
  await send(mailId);
  expect(sent.map(({ id }) => id)).toEqual([mailId]);
});

it("tries again later while the provider is away, and gives up after ten attempts", async () => {
  const { mailId } = await invited();
  const { sent, send } = outbox(() => true);
  for (let attempt = 1; attempt <= 10; attempt++) {
    expect(await send(mailId)).toEqual({ sent: 0, failed: 1 });
    // Not due again yet.
    expect(await send(mailId)).toEqual({ sent: 0, failed: 0 });
    const row = await rowOf(mailId);
    expect([row?.attempts, row?.error, row?.sealed === null]).toEqual([
      attempt,
      "the provider is away",
      attempt === 10,
    ]);
    await due(mailId);
  }
  expect(await send(mailId)).toEqual({ sent: 0, failed: 0 });
  expect(sent).toEqual([]);
});

it("drops what is of no use any more: replaced, revoked, expired, or of a deleted team", async () => {
  const { sent, send } = outbox();
  const renewed = await invited();
  const again = await renewInvitation(db, { ...renewed, compose });
  const revoked = await invited();
  await revokeInvitation(db, revoked);
  const erased = await invited();
  await eraseTenant(db, erased.tenantId);
  const expired = await invited();
  await db
    .update(mails)
    .set({ expiresAt: sql`now() - interval '1 second'` })
    .where(eq(mails.id, expired.mailId));
  for (const { mailId } of [renewed, revoked, erased, expired]) await send(mailId);
  expect(sent).toEqual([]);
  await send(again.mailId ?? "");
  expect(sent).toMatchObject([{ text: again.token }]);
  await sweepMails(db);
  expect(await rowOf(expired.mailId)).toBeUndefined();
  expect(await rowOf(again.mailId ?? "")).toBeDefined();
});
