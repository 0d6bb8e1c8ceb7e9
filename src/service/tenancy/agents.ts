/** Agents that members have connected: credentials that nobody has the secret of, used by whoever holds a token of their OAuth grant. */
import { and, desc, eq, gt, inArray, isNotNull, isNull, ne, sql } from "drizzle-orm";
import type { Restrictions } from "../../contract/credentials.ts";
import { recordAuditStatement } from "../audit/index.ts";
import type { Db } from "../db/client.ts";
import { type Agent, credentials } from "../db/credentials-schema.ts";
import { PG_FOREIGN_KEY_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { TenancyError } from "./errors.ts";

/** Agents that one member may have connected to a team at a time. */
export const MAX_AGENTS = 50;

/** Neither revoked nor expired. Agents always expire. */
const isLive = and(isNull(credentials.revokedAt), gt(credentials.expiresAt, sql`now()`));

export interface AgentInput {
  /** Public id and SHA-256 of the secret (lower-case hex), of `createCredential`. */
  id: string;
  secretHash: string;
  tenantId: string;
  /** The member who connects it. */
  userId: string;
  name: string;
  restrictions: Restrictions;
  expiresAt: Date;
  agent: Agent;
}

/**
 * Makes the credential of an agent. It replaces what the same client of the same person had before in this team, and ends the person's
 * oldest connections beyond `MAX_AGENTS`. A repeated call changes nothing. Throws `TenancyError` `FORBIDDEN` if the person is not in the team any more.
 */
export async function connectAgent(db: Db, input: AgentInput): Promise<void> {
  const { id, secretHash, tenantId, userId, name, restrictions, expiresAt, agent } = input;
  const kind = "api_key";
  const details = {
    credentialId: id,
    kind,
    name,
    userId,
    clientId: agent.clientId,
    expiresAt: expiresAt.toISOString(),
    restrictions,
  } as const;
  const values = {
    id,
    tenantId,
    kind: `narrow_${kind}`,
    name,
    secretHash: Buffer.from(secretHash, "hex"),
    expiresAt,
    restrictions,
    userId,
    agent,
  } as const;
  // A client that is known by the address of its description is the same for every installation: the others stay.
  const isShared = agent.clientId.includes("://");
  const earlier = db
    .update(credentials)
    .set({ revokedAt: sql`now()` })
    .where(
      and(
        eq(credentials.tenantId, tenantId),
        eq(credentials.userId, userId),
        sql`${credentials.agent} ->> 'clientId' = ${agent.clientId}`,
        ne(credentials.id, id),
        isNull(credentials.revokedAt),
      ),
    );
  const oldest = db
    .update(credentials)
    .set({ revokedAt: sql`now()` })
    .where(
      inArray(
        credentials.id,
        db
          .select({ id: credentials.id })
          .from(credentials)
          .where(
            and(
              eq(credentials.tenantId, tenantId),
              eq(credentials.userId, userId),
              isNotNull(credentials.agent),
              isLive,
            ),
          )
          .orderBy(desc(credentials.createdAt), desc(credentials.id))
          .offset(MAX_AGENTS),
      ),
    );
  const made = [
    db.insert(credentials).values(values).onConflictDoNothing(),
    recordAuditStatement(db, { event: "KEY_CREATED", tenantId, actor: `user:${userId}`, details }),
  ] as const;
  try {
    await (isShared ? db.batch([...made, oldest]) : db.batch([...made, earlier, oldest]));
  } catch (error) {
    if (pgErrorCode(error) !== PG_FOREIGN_KEY_VIOLATION) throw error;
    throw new TenancyError("FORBIDDEN", "you are not in this team any more", "team");
  }
}

/** Whether an agent's credential is valid: neither revoked nor expired, and its person still in the team. */
export async function isAgentConnected(db: Db, tenantId: string, id: string): Promise<boolean> {
  const rows = await db
    .select({ id: credentials.id })
    .from(credentials)
    .where(and(eq(credentials.id, id), eq(credentials.tenantId, tenantId), isLive));
  return rows.length > 0;
}
