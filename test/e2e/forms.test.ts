import { beforeAll, describe, expect, it } from "vitest";
import { codeFor, memberOf, Profile } from "./support/dashboard.ts";
import { slugOf } from "./support/agent.ts";
import { newTenant, service } from "./support/service.ts";

let owner: Awaited<ReturnType<typeof memberOf>>;
let team: string;

beforeAll(async () => {
  const { tenantId } = await newTenant();
  owner = await memberOf(tenantId, "owner");
  team = `/app/${await slugOf(owner)}`;
});

/** Sends the form of a page as a browser without JavaScript does. */
async function sendFrom(browser: Profile, page: string, action: string, form: Record<string, string>) {
  const answer = await browser.send(action, { form, headers: { Referer: `${service().siteUrl}${page}` } });
  return { status: answer.status, to: answer.headers.get("Location") ?? "", body: await answer.text() };
}

const actionOf = (page: string, contains: string): string =>
  Array.from(page.matchAll(/<form[^>]* action="([^"]+)"/g), ([, action = ""]) => action).find((action) =>
    action.endsWith(contains),
  ) ?? "";
const fieldOf = (page: string, name: string): string =>
  new RegExp(`<(?:input|select|textarea)(?:[^>"]|"[^"]*")* name="${name}"(?:[^>"]|"[^"]*")*>`).exec(page)?.[0] ?? "";

describe("a refused form, without JavaScript", () => {
  it("is shown again with what was typed, and the reason beside its field", async () => {
    const page = `${team}/team`;
    const action = actionOf(await owner.page(page), "/invitations");
    const typed = `no address <b>"x" & y`;
    const sent = await sendFrom(owner, page, action, { email: typed, role: "admin" });
    expect([sent.status, sent.to]).toEqual([303, page]);
    const again = await owner.page(page);
    const field = fieldOf(again, "email");
    expect(again).toContain("no address &lt;b&gt;");
    expect(field).toContain('aria-invalid="true"');
    expect(field).toMatch(/aria-describedby="(?:[\w-]+ )?refused-field"/);
    expect(field).toContain("autofocus");
    expect(again).toContain('id="refused-field"');
    expect(again).toMatch(/<option value="admin" selected/);
    // Once: a reload shows an empty form.
    const later = await owner.page(page);
    expect(later).not.toContain("no address");
    expect(later).not.toContain("refused-field");
  });

  it("is another person's to see neither while signed in as them nor after signing out", async () => {
    const page = `${team}/team`;
    const action = actionOf(await owner.page(page), "/invitations");
    await sendFrom(owner, page, action, { email: "of the owner", role: "member" });
    const { tenantId } = await newTenant();
    const stranger = await memberOf(tenantId, "owner");
    const own = `/app/${await slugOf(stranger)}/team`;
    const kept = JSON.parse(decodeURIComponent(owner.cookies.get("cc_form") ?? "{}")) as Record<string, unknown>;
    const moved = { ...kept, page: own, action: actionOf(await stranger.page(own), "/invitations") };
    stranger.cookies.set("cc_form", encodeURIComponent(JSON.stringify(moved)));
    expect(await stranger.page(own)).not.toContain("of the owner");
    await owner.send("/app/api/sign-out", { method: "POST" });
    expect(owner.cookies.has("cc_form")).toBe(false);
    await owner.signIn(owner.email);
  });

  it("keeps no secrets, and nothing that a cookie has no room for", async () => {
    const page = `${team}/repositories/new`;
    const found = await owner.send(page, { headers: { Accept: "text/html" } });
    const action = actionOf(await found.text(), "/repositories");
    await sendFrom(owner, page, action, {
      url: "not an address",
      token: "a-very-secret-token",
      ref: "x".repeat(9_000),
    });
    const kept = decodeURIComponent(owner.cookies.get("cc_form") ?? "");
    expect(kept).toContain("not an address");
    expect(kept).not.toContain("a-very-secret-token");
    expect(kept.length).toBeLessThan(3_600);
  });

  it("is no way to write into other pages", async () => {
    const forged = {
      page: `${team}/team`,
      action: "/elsewhere",
      message: "<script>alert(1)</script>",
      values: { email: "x" },
    };
    owner.cookies.set("cc_form", encodeURIComponent(JSON.stringify(forged)));
    const page = await owner.page(`${team}/team`);
    expect(page).not.toContain("alert(1)");
    for (const broken of ["{", "%7B%22page%22%3A1%7D", "%"]) {
      owner.cookies.set("cc_form", broken);
      expect((await owner.send(`${team}/team`, { headers: { Accept: "text/html" } })).status).toBe(200);
    }
    owner.cookies.delete("cc_form");
  });
});

describe("an expired session", () => {
  it("leads to the sign-in and back to the form, with what was typed and nothing changed", async () => {
    const page = `${team}/settings`;
    const before = await owner.page(page);
    const action = actionOf(before, "/settings");
    owner.cookies.delete("cc_session");
    const sent = await sendFrom(owner, page, action, { name: "A new name", sharedIndex: "on" });
    expect([sent.status, sent.to]).toEqual([303, `/app/sign-in?next=${encodeURIComponent(page)}`]);
    const signIn = await owner.page(sent.to);
    expect(signIn).toContain("nothing was changed");
    await owner.post("/app/api/sign-in", { email: owner.email });
    expect((await owner.post("/app/api/sign-in/verify", { code: await codeFor(owner.email) })).status).toBe(200);
    const again = await owner.page(page);
    expect(fieldOf(again, "name")).toContain('value="A new name"');
    expect(again).toContain("You were signed out before this was sent");
    const later = await owner.page(page);
    expect(fieldOf(later, "name")).not.toContain("A new name");
    // A script gets its error as before.
    expect(await new Profile().post(action, { name: "x" })).toMatchObject({ status: 401, code: "UNAUTHORIZED" });
  });
});

describe("a form that is sent three times", () => {
  const hidden = (page: string, name: string): string =>
    new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? "";

  it("makes one team", async () => {
    const once = hidden(await owner.page("/app/new"), "once");
    const form = { name: "Quick clicks", once };
    const sent = await Promise.all([1, 2, 3].map(() => sendFrom(owner, "/app/new", "/app/api/tenants", form)));
    expect(new Set(sent.map(({ status, to }) => `${status} ${to}`)).size).toBe(1);
    expect(sent[0]?.to).toMatch(/^\/app\/quick-clicks/);
    const { tenants } = (await (
      await owner.send("/app/api/session", { headers: { Accept: "application/json" } })
    ).json()) as {
      tenants: { name: string }[];
    };
    expect(tenants.filter(({ name }) => name === "Quick clicks")).toHaveLength(1);
    // Another page is another team, and another person cannot use the form.
    const other = { name: "Quick clicks", once: hidden(await owner.page("/app/new"), "once") };
    expect((await sendFrom(owner, "/app/new", "/app/api/tenants", other)).to).not.toBe(sent[0]?.to);
    const { tenantId } = await newTenant();
    const stranger = await memberOf(tenantId, "owner");
    expect(await stranger.post("/app/api/tenants", form)).toMatchObject({ status: 400 });
  });

  it("connects one repository, and ends on its page", async () => {
    const page = `${team}/repositories/new`;
    const action = actionOf(await owner.page(page), "/repositories");
    const form = { url: "https://git.example/acme/thrice.git" };
    const sent = await Promise.all([1, 2, 3].map(() => sendFrom(owner, page, action, form)));
    sent.push(await sendFrom(owner, page, action, form));
    expect(sent.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    const [to, ...others] = new Set(sent.map((answer) => answer.to));
    expect(to).toMatch(/\/repositories\/[0-9a-f-]{36}$/);
    expect(others).toEqual([]);
    expect(await owner.page(String(to))).toContain(
      "git.example/acme/thrice is connected already. Nothing was changed.",
    );
    // A JSON client gets the error.
    expect(await owner.post(action, form)).toMatchObject({ status: 409 });
  });

  it("makes one hook, whose secret is shown", async () => {
    const connected = await owner.post(`${team.replace("/app/", "/app/api/tenants/")}/repositories`, {
      url: "https://git.example/acme/forms.git",
    });
    const to = String(connected["to"]);
    const page = await owner.page(to);
    const action = actionOf(page, "/hooks");
    const form = { provider: "github", once: hidden(page, "once") };
    const answers = await Promise.all([1, 2, 3].map(() => owner.post(action, form)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ id, secret }) => `${String(id)} ${String(secret)}`)).size).toBe(1);
    // Without the form's seed it is a second hook, of which there can be one only.
    expect(await owner.post(action, { provider: "github" })).toMatchObject({ status: 409 });
    // Once it is deleted, its form does not bring it back; that of the page loaded again makes another.
    expect((await owner.post(`${action}/${String(answers[0]?.["id"])}/delete`)).status).toBe(200);
    expect(await owner.post(action, form)).toMatchObject({ status: 409 });
    const again = { provider: "github", once: hidden(await owner.page(to), "once") };
    expect((await owner.post(action, again)).status).toBe(201);
  });
});
