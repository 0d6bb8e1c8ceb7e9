import { describe, expect, it } from "vitest";
import { memberOf, newTeam, type Profile } from "./support/dashboard.ts";
import { api } from "./support/service.ts";

describe("personal keys", () => {
  it("are made and seen by their member, seen by admins with whose they are, and end with the membership", async () => {
    const team = await newTeam();
    const member = await memberOf(team.tenantId, "member");
    const colleague = await memberOf(team.tenantId, "member");
    const { value: key, id } = await member.post(`${team.base}/keys`, { name: "mine", kind: "api_key" });
    expect((await api("/embed", { key: String(key) })).status).toBe(200);
    const namesOf = async (browser: Profile) => {
      const answer = await browser.send(`${team.base}/keys`, { headers: { Accept: "application/json" } });
      const { keys } = (await answer.json()) as { keys: { name: string; owner: string | null }[] };
      return keys.map(({ name, owner }) => `${name} of ${owner ?? "the team"}`);
    };
    expect(await namesOf(member)).toEqual([`mine of ${member.email}`]);
    expect(await namesOf(colleague)).toEqual([]);
    expect(await namesOf(team.owner)).toContain(`mine of ${member.email}`);
    expect(await colleague.post(`${team.base}/keys/${String(id)}/revoke`)).toMatchObject({ status: 404 });
    const page = await colleague.page(`${team.pages}/keys`);
    expect([page.includes("New personal key"), page.includes("Worker token"), page.includes("mine")]).toEqual([
      true,
      false,
      false,
    ]);
    // An owner chooses whose a new one is.
    await team.owner.post(`${team.base}/keys`, { name: "owner's", kind: "api_key", owner: "me" });
    expect(await namesOf(team.owner)).toContain(`owner's of ${team.owner.email}`);
    const refused = await team.owner.post(`${team.base}/keys`, { name: "x", kind: "worker_token", owner: "me" });
    expect(refused).toMatchObject({ status: 400, details: { issues: [{ path: "owner" }] } });
    const made = await api("/tokens", { key: String(key), body: { ttlSeconds: 600 } });
    const { token } = (await made.json()) as { token: string };
    expect((await api("/embed", { key: token })).status).toBe(200);
    expect(await team.owner.post(`${team.base}/members/${member.userId}/remove`)).toMatchObject({ status: 200 });
    for (const gone of [String(key), token])
      await expect.poll(async () => (await api("/embed", { key: gone })).status, { timeout: 3_000 }).toBe(401);
    expect(await namesOf(team.owner)).not.toContain(`mine of ${member.email}`);
  });
});
