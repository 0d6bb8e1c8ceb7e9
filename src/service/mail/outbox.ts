/**
 * The outbox: messages are rows of `mails`, inserted in the statement that makes them necessary, and sent afterwards. So a crash in
 * between loses no message, and a provider that is away delays it. A message may be sent twice if the sender is killed after the
 * provider took it; both attempts have the same id, by which Resend and the local mailbox recognise the second.
 */
import { eq, type SQL, sql } from "drizzle-orm";
import { backoffMs } from "../../lib/backoff.ts";
import type { Db } from "../db/client.ts";
import { mails } from "../db/people-schema.ts";
import { rowsOf } from "../db/rows.ts";
import { seal, unseal } from "../../lib/seal.ts";
import type { Logger } from "../../lib/log.ts";
import { isRecord, isText } from "../../lib/shape.ts";
import type { Mail, Mailer } from "./types.ts";

/** A sender has a message to itself for the longest duration of an attempt and this; if it is killed, others take over then. */
const LEASE_MARGIN_SEC = 5;
const MAX_ATTEMPTS = 10;
const BACKOFF = { baseMs: 10_000, capMs: 30 * 60_000 };
/** Most messages, and longest time after which a round begins no other; the next round follows within a minute. */
const BATCH = 50;
const ROUND_MS = 25_000;
/** How long the rows of sent messages are kept. */
const KEPT_DAYS = 7;
/** Version of the sealed content. */
const VERSION = 1;

/** Binds a sealed message to its row. */
export const mailPurpose = (id: string) => `mail:${id}`;

export interface QueuedMail {
  id: string;
  kind: "sign_in_code" | "invitation" | "quota" | "run";
  sealed: string;
  /** The message is not sent later than this after it was queued. */
  usefulSec: number;
}

/** Seals a message for the outbox: neither the recipient nor a code or link in it is stored in clear. */
export async function sealMail(
  encryptionKey: string,
  mail: Mail,
  { kind, usefulSec }: Pick<QueuedMail, "kind" | "usefulSec">,
): Promise<QueuedMail> {
  const id = crypto.randomUUID();
  const content = JSON.stringify({ version: VERSION, ...mail });
  return { id, kind, usefulSec, sealed: await seal(encryptionKey, mailPurpose(id), content) };
}

/**
 * Insert of a message into the outbox, for a statement with the change that makes it necessary: one message if `source`, a `from`
 * clause, has a row.
 */
export function mailInsert(
  { id, kind, sealed, usefulSec }: QueuedMail,
  { tenantId = null, about = sql`null`, source }: { tenantId?: string | null; about?: SQL; source: SQL },
): SQL {
  return sql`
    insert into mails (id, tenant_id, kind, about, sealed, expires_at)
    select ${id}::uuid, ${tenantId}::uuid, ${kind}, ${about}, ${sealed}, now() + make_interval(secs => ${usefulSec}) from ${source}`;
}

export interface OutboxDeps {
  db: Db;
  encryptionKey: string;
  mailer: Mailer;
  log: Logger;
  now: () => number;
}

/**
 * Sends what is due, or only the given message if it is due. Several senders may run at once. Failures are logged and tried again
 * later; throws database errors only.
 */
export async function sendMails(deps: OutboxDeps, only?: string): Promise<{ sent: number; failed: number }> {
  const report = { sent: 0, failed: 0 };
  const startedMs = deps.now();
  for (let i = 0; i < BATCH && deps.now() - startedMs < ROUND_MS; i++) {
    const mail = await claim(deps, only);
    if (!mail) break;
    if (await attempt(deps, mail)) report.sent++;
    else report.failed++;
  }
  return report;
}

interface Claimed {
  id: string;
  kind: string;
  sealed: string;
  attempts: number;
  createdMs: number;
}

/** Takes the message that has been due for longest, for the time of the lease. */
async function claim({ db, mailer }: OutboxDeps, only: string | undefined): Promise<Claimed | undefined> {
  const [row] = await rowsOf<Claimed>(
    db,
    sql`
      update mails set due_at = now() + make_interval(secs => ${mailer.maxSec + LEASE_MARGIN_SEC}), attempts = attempts + 1
      where id = (
        select id from mails
        where sealed is not null and due_at <= now() and expires_at > now() ${only === undefined ? sql`` : sql`and id = ${only}`}
        order by due_at limit 1 for update skip locked)
      returning id, kind, sealed, attempts, (extract(epoch from created_at) * 1000)::float8 as "createdMs"`,
  );
  return row;
}

async function attempt({ db, encryptionKey, mailer, log }: OutboxDeps, claimed: Claimed): Promise<boolean> {
  const { id, kind, sealed, attempts, createdMs } = claimed;
  try {
    const mail = parseMail(await unseal(encryptionKey, mailPurpose(id), sealed));
    await mailer.send(mail, { id, at: new Date(createdMs) });
  } catch (error) {
    const isLast = attempts >= MAX_ATTEMPTS;
    log.error(isLast ? "mail_given_up" : "mail_not_sent", error, { mailId: id, kind, attempt: attempts });
    const reason = error instanceof Error ? error.message.slice(0, 300) : "unknown";
    await db
      .update(mails)
      .set({
        error: reason,
        dueAt: sql`now() + make_interval(secs => ${backoffMs(attempts, BACKOFF) / 1_000})`,
        ...(isLast && { sealed: null }),
      })
      .where(eq(mails.id, id));
    return false;
  }
  await db
    .update(mails)
    .set({ sealed: null, sentAt: sql`now()`, error: null })
    .where(eq(mails.id, id));
  return true;
}

function parseMail(content: string): Mail {
  const mail: unknown = JSON.parse(content);
  if (isRecord(mail) && mail["version"] === VERSION) {
    const { to, subject, text, html } = mail;
    if (isText(to) && isText(subject) && isText(text) && isText(html)) return { to, subject, text, html };
  }
  throw new Error("the message was queued by another version");
}

/** Deletes messages that are of no use any more, and old rows of those that were sent or given up. Part of the daily clean-up. */
export async function sweepMails(db: Db): Promise<void> {
  await db
    .delete(mails)
    .where(
      sql`case when ${mails.sealed} is null then ${mails.createdAt} + make_interval(days => ${KEPT_DAYS}) else ${mails.expiresAt} end < now()`,
    );
}
