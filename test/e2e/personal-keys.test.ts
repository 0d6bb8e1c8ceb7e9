import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../../src/service/db/rows.ts";
import { memberOf, newTeam, type Profile } from "./support/dashboard.ts";
import { api, database } from "./support/service.ts";

describe("keys of people", () => {
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
      await expect.poll(async () => (await api("/embed", { key: gone })).status).toBe(401);
    expect(await namesOf(team.owner)).not.toContain(`mine of ${member.email}`);
  });

  it("have budgets from their form, which owners and admins change", async () => {
    const team = await newTeam();
    const member = await memberOf(team.tenantId, "member");
    const key = await team.owner.post(`${team.base}/keys`, { name: "small", kind: "api_key", monthlyCredits: "0" });
    const embed = async () => {
      const answer = await api("/embed", { key: String(key["value"]), body: { input: ["x"] } });
      const { code } = (await answer.json()) as { code?: string };
      return code ?? answer.status;
    };
    expect(await embed()).toBe("QUOTA_EXCEEDED");
    const budget = `${team.base}/keys/${String(key["id"])}/budget`;
    const page = await team.owner.page(`${team.pages}/keys`);
    expect(page).toContain("0 credits a month");
    expect(page).toContain("Set the budget");
    expect(await team.owner.post(budget, { monthlyCredits: " ", ratePerMinute: "5" })).toMatchObject({ status: 200 });
    await expect.poll(embed).toBe(200);
    expect(await team.owner.page(`${team.pages}/keys`)).toContain("5 requests a minute");
    expect(await team.owner.page(`${team.pages}/audit`)).toContain(
      "as many credits as the team and 5 requests a minute",
    );
    for (const bad of [{ monthlyCredits: "-1" }, { ratePerMinute: "0" }, { monthlyCredits: "9".repeat(40) }])
      expect(await team.owner.post(budget, bad)).toMatchObject({
        status: 400,
        details: { issues: [{ path: Object.keys(bad)[0] }] },
      });
    const { id } = await member.post(`${team.base}/keys`, { name: "own", kind: "api_key", monthlyCredits: "9" });
    expect(await member.post(`${team.base}/keys/${String(id)}/budget`, {})).toMatchObject({ status: 403 });
    expect(await member.page(`${team.pages}/keys`)).not.toContain("Set the budget");
  });

  it("are made once, however often their form is sent", async () => {
    const team = await newTeam();
    const once = async () =>
      /name="once" value="([^"]+)"/.exec(await team.owner.page(`${team.pages}/keys`))?.[1] ?? expect.fail("no token");
    const form = { once: await once(), name: "thrice", kind: "api_key" };
    const make = (more: Partial<typeof form> = {}) => team.owner.post(`${team.base}/keys`, { ...form, ...more });
    const made = await Promise.all([make(), make(), make()]);
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(made.map(({ value }) => value)).size).toBe(1);
    expect((await api("/embed", { key: String(made[0]?.["value"]) })).status).toBe(200);
    // Other fields are another key, and so is another form.
    const others = [await make({ name: "other" }), await make({ once: await once() })];
    expect(new Set([made[0], ...others].map((one) => one?.["value"])).size).toBe(3);
    const count = await rowsOf<{ n: number }>(
      database(),
      sql`select count(*)::int as n from audit_events where tenant_id = ${team.tenantId} and event = 'KEY_CREATED' and details ->> 'name' = 'thrice'`,
    );
    expect(count).toEqual([{ n: 2 }]);
    await team.owner.post(`${team.base}/keys/${String(made[0]?.["id"])}/revoke`);
    expect(await make()).toMatchObject({ status: 409, code: "CONFLICT" });
    const stranger = await newTeam();
    expect(await stranger.owner.post(`${stranger.base}/keys`, form)).toMatchObject({ status: 400 });
  });
});

describe("the settings of an agent", () => {
  it("are filled in with a key of one's own, which is shown there once", async () => {
    const team = await newTeam();
    const member = await memberOf(team.tenantId, "member");
    const page = `${team.pages}/connect?client=codex`;
    const html = await member.page(page);
    expect(html).toContain("No call has arrived yet");
    const form = Object.fromEntries(
      Array.from(html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g), ([, name = "", value = ""]) => [
        name,
        value,
      ]),
    );
    expect(form).toMatchObject({ name: "Codex", owner: "me", page: "connect" });
    for (let sent = 0; sent < 2; sent++) {
      const answer = await member.send(`${team.base}/keys`, { form });
      expect([answer.status, answer.headers.get("Location")]).toEqual([303, `${team.pages}/connect`]);
    }
    const shown = await member.page(`${team.pages}/connect`);
    const key = /export CODECTX_API_KEY=(cc_live_\w+)/.exec(shown)?.[1] ?? "";
    expect((await api("/embed", { key })).status).toBe(200);
    expect(await member.page(page)).not.toContain(key);
    const keys = await member.send(`${team.base}/keys`, { headers: { Accept: "application/json" } });
    expect(((await keys.json()) as { keys: unknown[] }).keys).toHaveLength(1);
  });
});
