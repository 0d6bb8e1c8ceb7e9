import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { invitations } from "../../../src/service/db/people-schema.ts";
import { tenants } from "../../../src/service/db/schema.ts";
import {
  acceptInvitation,
  addUser,
  carryCredits,
  changeRole,
  createOwnTenant,
  findInvitation,
  invite,
  listInvitations,
  listMembers,
  removeMember,
  renewInvitation,
  revokeInvitation,
} from "../../../src/service/users/index.ts";
import { loadMonths } from "../../../src/service/gate/mirror.ts";
import { periodOf } from "../../../src/service/gate/period.ts";
import { eraseTenant } from "../../../src/service/tenancy/erase.ts";
import { newSlug } from "../../../src/service/tenancy/slug.ts";
import { db } from "../support/tenants.ts";
import { auditOf, newEmail, team } from "./people.ts";

/** A user of no tenant. */
async function outsider() {
  const email = newEmail();
  const elsewhere = await team("owner");
  const { userId } = await addUser(db, { email, tenantId: elsewhere.tenantId, role: "member" });
  return { id: userId, email };
}

const rolesOf = async (tenantId: string) =>
  Object.fromEntries((await listMembers(db, tenantId)).map(({ userId, role }) => [userId, role]));

describe("invitations", () => {
  it("make the invited person a member, once, with the role that was offered", async () => {
    const { tenantId, people } = await team("owner");
    const guest = await outsider();
    const sent = await invite(db, { tenantId, email: guest.email, role: "admin", by: people.owner });
    expect(await findInvitation(db, sent.token)).toMatchObject({ email: guest.email, role: "admin" });
    const both = await Promise.allSettled([
      acceptInvitation(db, sent.token, guest),
      acceptInvitation(db, sent.token, guest),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect((await rolesOf(tenantId))[guest.id]).toBe("admin");
    expect(await listInvitations(db, tenantId)).toEqual([]);
    expect(await auditOf(tenantId)).toEqual([
      { event: "INVITATION_SENT", actor: `user:${people.owner.userId}` },
      { event: "MEMBER_JOINED", actor: `user:${guest.id}` },
    ]);
  });

  it("work for the invited address only, and say whose they are", async () => {
    const { tenantId, people } = await team("owner");
    const [guest, other] = [await outsider(), await outsider()];
    const sent = await invite(db, { tenantId, email: guest.email, role: "member", by: people.owner });
    await expect(acceptInvitation(db, sent.token, other)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect((await rolesOf(tenantId))[other.id]).toBeUndefined();
  });

  it("stop working when they are revoked, expired or sent again", async () => {
    const { tenantId, people } = await team("owner", "admin");
    const guest = await outsider();
    const by = people.admin;
    const first = await invite(db, { tenantId, email: guest.email, role: "member", by });
    const second = await renewInvitation(db, { tenantId, id: first.id, by });
    expect(second.id).toBe(first.id);
    await expect(acceptInvitation(db, first.token, guest)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await db
      .update(invitations)
      .set({ expiresAt: new Date(Date.now() - 1_000) })
      .where(eq(invitations.id, second.id));
    await expect(acceptInvitation(db, second.token, guest)).rejects.toMatchObject({ code: "NOT_FOUND" });
    const third = await renewInvitation(db, { tenantId, id: first.id, by });
    await revokeInvitation(db, { tenantId, id: first.id, by });
    await expect(acceptInvitation(db, third.token, guest)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(revokeInvitation(db, { tenantId, id: first.id, by })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await rolesOf(tenantId))[guest.id]).toBeUndefined();
  });

  it("are sent once for a form that is sent twice, and not again after they were revoked", async () => {
    const { tenantId, people } = await team("owner");
    const guest = await outsider();
    const random = new Uint8Array(64).fill(3);
    const form = { tenantId, email: guest.email, role: "member", by: people.owner, random } as const;
    const first = await invite(db, form);
    expect(await invite(db, form)).toEqual(first);
    expect(await auditOf(tenantId)).toHaveLength(1);
    await revokeInvitation(db, { tenantId, id: first.id, by: people.owner });
    await expect(invite(db, form)).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await findInvitation(db, first.token)).toBeUndefined();
  });

  it("are refused to members, above one's own role, for members, and across tenants", async () => {
    const { tenantId, people } = await team("owner", "admin", "member");
    const email = newEmail();
    await expect(invite(db, { tenantId, email, role: "member", by: people.member })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    await expect(invite(db, { tenantId, email, role: "owner", by: people.admin })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    await expect(
      invite(db, { tenantId, email: people.member.email, role: "member", by: people.owner }),
    ).rejects.toMatchObject({ code: "CONFLICT" });
    const { id } = await invite(db, { tenantId, email, role: "member", by: people.owner });
    const other = await team("owner");
    const foreign = { tenantId: other.tenantId, id, by: other.people.owner };
    await expect(revokeInvitation(db, foreign)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(renewInvitation(db, foreign)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await listInvitations(db, tenantId)).toHaveLength(1);
  });

  it("of owners can be replaced, sent again and revoked by owners only", async () => {
    const { tenantId, people } = await team("owner", "admin");
    const guest = await outsider();
    const sent = await invite(db, { tenantId, email: guest.email, role: "owner", by: people.owner });
    const by = people.admin;
    for (const attempt of [
      () => invite(db, { tenantId, email: guest.email, role: "member", by }),
      () => renewInvitation(db, { tenantId, id: sent.id, by }),
      () => revokeInvitation(db, { tenantId, id: sent.id, by }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: "FORBIDDEN" });
    }
    await acceptInvitation(db, sent.token, guest);
    expect((await rolesOf(tenantId))[guest.id]).toBe("owner");
  });
});

describe("members", () => {
  it("always keep an owner, also when two owners remove each other at once", async () => {
    const { tenantId, people } = await team("owner");
    const by = people.owner;
    await expect(removeMember(db, { tenantId, by, userId: by.userId })).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(changeRole(db, { tenantId, by, userId: by.userId, role: "member" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    const second = await addUser(db, { email: newEmail(), tenantId, role: "owner" });
    await Promise.allSettled([
      removeMember(db, { tenantId, by, userId: second.userId }),
      removeMember(db, { tenantId, by: { ...second, role: "owner" }, userId: by.userId }),
    ]);
    expect(Object.values(await rolesOf(tenantId))).toEqual(["owner"]);
  });

  it("change by owners and admins within their role, and may leave", async () => {
    const { tenantId, people } = await team("owner", "admin", "member");
    const { owner, admin, member } = people;
    const before = await rolesOf(tenantId);
    for (const attempt of [
      () => changeRole(db, { tenantId, by: member, userId: member.userId, role: "owner" }),
      () => changeRole(db, { tenantId, by: admin, userId: admin.userId, role: "owner" }),
      () => changeRole(db, { tenantId, by: admin, userId: owner.userId, role: "member" }),
      () => removeMember(db, { tenantId, by: admin, userId: owner.userId }),
      () => removeMember(db, { tenantId, by: member, userId: admin.userId }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: "FORBIDDEN" });
    }
    expect(await rolesOf(tenantId)).toEqual(before);
    await changeRole(db, { tenantId, by: admin, userId: member.userId, role: "admin" });
    await changeRole(db, { tenantId, by: owner, userId: member.userId, role: "owner" });
    await removeMember(db, { tenantId, by: admin, userId: admin.userId });
    expect(await rolesOf(tenantId)).toEqual({ [owner.userId]: "owner", [member.userId]: "owner" });
    expect((await auditOf(tenantId)).map(({ event }) => event)).toEqual([
      "MEMBER_ROLE_CHANGED",
      "MEMBER_ROLE_CHANGED",
      "MEMBER_REMOVED",
    ]);
  });

  it("keep their role when they are added again without one", async () => {
    const { tenantId } = await team("owner");
    const email = newEmail();
    const { userId } = await addUser(db, { email, tenantId, role: "member" });
    expect(await addUser(db, { email, tenantId })).toEqual({ userId, role: "member" });
    expect(await addUser(db, { email, tenantId, role: "admin" })).toEqual({ userId, role: "admin" });
    expect(await addUser(db, { email: newEmail(), tenantId })).toMatchObject({ role: "owner" });
  });

  it("of other tenants are out of reach", async () => {
    const [ours, theirs] = [await team("owner"), await team("owner", "member")];
    const change = { tenantId: ours.tenantId, by: ours.people.owner, userId: theirs.people.member.userId };
    await expect(removeMember(db, change)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(changeRole(db, { ...change, role: "admin" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("a tenant of one's own", () => {
  it("gets a slug of its name, with a suffix where the plain one is taken or reserved", async () => {
    const { id } = await outsider();
    const name = `Äcme & Söhne ${crypto.randomUUID().slice(0, 8)}`;
    const [first, second] = [await createOwnTenant(db, id, { name }), await createOwnTenant(db, id, { name })];
    expect(first.slug).toMatch(/^acme-sohne-[\da-f]{8}$/);
    expect(second.slug).toMatch(new RegExp(`^${first.slug}-[a-z2-9]{5}$`));
    expect(newSlug("API")).toMatch(/^api-[a-z2-9]{5}$/);
    expect(newSlug("日本")).toMatch(/^team-[a-z2-9]{5}$/);
    expect((await rolesOf(first.tenantId))[id]).toBe("owner");
    const [row] = await db.select().from(tenants).where(eq(tenants.id, first.tenantId));
    expect(row).toMatchObject({ name, slug: first.slug });
  });

  it("is limited to five a person, also at once, and after handing teams over", async () => {
    const { id } = await outsider();
    const made = await Promise.allSettled(Array.from({ length: 15 }, () => createOwnTenant(db, id, { name: "Mine" })));
    const teams = made.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(teams).toHaveLength(5);
    for (const one of made) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "CONFLICT" });
    const [{ tenantId }] = teams as [(typeof teams)[0]];
    await addUser(db, { email: newEmail(), tenantId, role: "owner" });
    await removeMember(db, { tenantId, by: { userId: id, role: "owner" }, userId: id });
    await expect(createOwnTenant(db, id, { name: "Mine" })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await auditOf(tenantId)).toContainEqual({ event: "TENANT_CREATED", actor: `user:${id}` });
  });

  it("starts with the credits that its account has used this month in deleted teams", async () => {
    const { id } = await outsider();
    const period = periodOf(Date.now());
    const used = async (tenantId: string) => (await loadMonths(db, tenantId, [period])).get(period)?.credits ?? 0;
    const remake = async (...old: { tenantId: string; credits: number }[]) => {
      for (const { tenantId, credits } of old) {
        await carryCredits(db, { tenantId, period, credits });
        // Repeated after a failure.
        await carryCredits(db, { tenantId, period, credits });
        await eraseTenant(db, tenantId);
      }
      const made = [];
      for (let i = 0; i < old.length; i++) made.push((await createOwnTenant(db, id, { name: "Mine" })).tenantId);
      return Promise.all(made.map(async (tenantId) => ({ tenantId, credits: await used(tenantId) })));
    };
    const [first, second] = [
      await createOwnTenant(db, id, { name: "A" }),
      await createOwnTenant(db, id, { name: "B" }),
    ];
    expect([await used(first.tenantId), await used(second.tenantId)]).toEqual([0, 0]);
    // The first team takes what it has room for, the next one the rest.
    let teams = await remake({ ...first, credits: 9_000 }, { ...second, credits: 4_000 });
    expect(teams.map(({ credits }) => credits)).toEqual([10_000, 3_000]);
    teams = await remake(...teams);
    expect(teams.map(({ credits }) => credits)).toEqual([10_000, 3_000]);
    // Another owner's deletion changes nothing.
    const [team] = teams as [(typeof teams)[0]];
    const other = await addUser(db, { email: newEmail(), tenantId: team.tenantId, role: "owner" });
    await removeMember(db, { tenantId: team.tenantId, by: { userId: id, role: "owner" }, userId: id });
    await carryCredits(db, { ...team, period });
    await eraseTenant(db, team.tenantId);
    expect(await used((await createOwnTenant(db, other.userId, { name: "Theirs" })).tenantId)).toBe(0);
    expect(await used((await createOwnTenant(db, id, { name: "Again" })).tenantId)).toBe(10_000);
  });

  it("made by the administrator leaves its credits with its owners", async () => {
    const { tenantId, people } = await team("owner", "member");
    const period = periodOf(Date.now());
    await carryCredits(db, { tenantId, period, credits: 700 });
    await eraseTenant(db, tenantId);
    for (const [{ userId }, credits] of [
      [people.owner, 700],
      [people.member, undefined],
    ] as const) {
      const made = await createOwnTenant(db, userId, { name: "Next" });
      expect((await loadMonths(db, made.tenantId, [period])).get(period)?.credits).toBe(credits);
    }
  });
});
