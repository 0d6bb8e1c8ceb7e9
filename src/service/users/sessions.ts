/** Sessions of signed-in users: random cookies, stored only as SHA-256. */
import { and, desc, eq, gt, lt, ne, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { type Role, sessions, users } from "../db/people-schema.ts";
import { hashToken, isToken } from "./tokens.ts";

export const SESSION_DAYS = 30;
/** `last_seen_at` is written at most this often. */
const TOUCH_INTERVAL_MS = 10 * 60_000;

export interface Membership {
  tenantId: string;
  slug: string;
  name: string;
  role: Role;
}

export interface Session {
  id: string;
  user: { id: string; email: string; name: string | null };
  /** Ordered by name. */
  memberships: Membership[];
  lastSeenAt: Date;
}

/** Finds the session of a cookie, with its user and memberships, in one statement; undefined if there is none or it has expired. */
export async function readSession(db: Db, cookie: string | undefined): Promise<Session | undefined> {
  if (!isToken(cookie)) return undefined;
  const [row] = await db
    .select({
      id: sessions.id,
      lastSeenAt: sessions.lastSeenAt,
      user: { id: users.id, email: users.email, name: users.name },
      memberships: sql<Membership[]>`(
        select coalesce(json_agg(json_build_object('tenantId', t.id, 'slug', t.slug, 'name', t.name, 'role', m.role)
          order by lower(t.name), t.slug), '[]')
        from memberships m join tenants t on t.id = m.tenant_id where m.user_id = ${sessions.userId})`,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.tokenHash, hashToken(cookie)), gt(sessions.expiresAt, sql`now()`)));
  return row;
}

/** Whether `touchSession` has something to write. */
export function isTouchDue(session: Session, nowMs: number): boolean {
  return nowMs - session.lastSeenAt.getTime() > TOUCH_INTERVAL_MS;
}

/** Updates a session's `last_seen_at`. */
export async function touchSession(db: Db, sessionId: string): Promise<void> {
  await db
    .update(sessions)
    .set({ lastSeenAt: sql`now()` })
    .where(eq(sessions.id, sessionId));
}

/** Lists a user's valid sessions, most recently used first. */
export function listSessions(db: Db, userId: string) {
  return db
    .select({
      id: sessions.id,
      userAgent: sessions.userAgent,
      createdAt: sessions.createdAt,
      lastSeenAt: sessions.lastSeenAt,
      expiresAt: sessions.expiresAt,
    })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, sql`now()`)))
    .orderBy(desc(sessions.lastSeenAt))
    .limit(100);
}

/** Ends one session of a user. Returns false if the user has no such session. */
export async function revokeSession(db: Db, userId: string, sessionId: string): Promise<boolean> {
  const gone = await db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), eq(sessions.id, sessionId)))
    .returning({ id: sessions.id });
  return gone.length > 0;
}

/** Ends all sessions of a user except one. Returns how many. */
export async function revokeOtherSessions(db: Db, userId: string, keptId: string): Promise<number> {
  const gone = await db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), ne(sessions.id, keptId)))
    .returning({ id: sessions.id });
  return gone.length;
}

/** Deletes expired sessions. */
export async function sweepSessions(db: Db): Promise<void> {
  await db.delete(sessions).where(lt(sessions.expiresAt, sql`now()`));
}
