import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { codeFor, mailOf, newEmail, Profile } from "./support/dashboard.ts";
import { admin, newTenant, service } from "./support/service.ts";

describe("signing in", () => {
  it("works without JavaScript: a form, the code from the mail, a team", async () => {
    const email = newEmail();
    const browser = new Profile();
    const start = await browser.send("/app");
    expect([start.status, start.headers.get("Location")]).toEqual([303, "/app/sign-in?next=%2Fapp"]);
    expect(await browser.page("/app/sign-in?next=%2Fapp")).toContain("E-mail address");
    const asked = await browser.send("/app/api/sign-in", { form: { email: ` ${email.toUpperCase()} `, next: "/app" } });
    expect(asked.status).toBe(303);
    expect(await browser.page(asked.headers.get("Location") ?? "")).toContain(email);
    const verified = await browser.send("/app/api/sign-in/verify", {
      form: { code: await codeFor(email), next: "/app" },
    });
    expect([verified.status, verified.headers.get("Location")]).toEqual([303, "/app"]);
    const cookie = verified.headers.getSetCookie().find((one) => one.startsWith("cc_session=")) ?? "";
    for (const attribute of ["HttpOnly", "SameSite=Lax", "Secure", "Max-Age=2592000"])
      expect(cookie).toContain(attribute);
    expect((await browser.send("/app")).headers.get("Location")).toBe("/app/new");
    const made = await browser.send("/app/api/tenants", { form: { name: `Team ${email.slice(0, 8)}` } });
    expect(made.headers.get("Location")).toMatch(/^\/app\/team-[\da-f]{8}$/);
    const out = await browser.send("/app/api/sign-out", { form: {} });
    expect([out.status, browser.cookies.has("cc_session")]).toEqual([303, false]);
    expect(await browser.page("/app/sign-in")).toContain("You are signed out.");
  });

  it("does not reveal whether an address is known, and sends the code by mail only", async () => {
    const { tenantId } = await newTenant();
    const [known, unknown] = [newEmail(), newEmail()];
    await admin("user", "create", "--email", known, "--tenant", tenantId, "--role", "owner");
    const answers = await Promise.all(
      [known, unknown].map(async (email) => {
        const answer = await new Profile().post("/app/api/sign-in", { email });
        expect(JSON.stringify(answer)).not.toContain(await codeFor(email));
        return JSON.stringify(answer).replaceAll(encodeURIComponent(email), "");
      }),
    );
    expect(answers[0]).toBe(answers[1]);
    const logs = path.join(service().dataDir, "logs");
    const logged = readdirSync(logs)
      .map((name) => readFileSync(path.join(logs, name), "utf8"))
      .join("\n");
    for (const email of [known, unknown]) expect(logged).not.toMatch(new RegExp(`\\b${await codeFor(email)}\\b`));
  });

  it("does not lead out of the dashboard", async () => {
    const browser = new Profile();
    for (const next of ["https://evil.test/", "//evil.test/", "/app/../\\evil.test", "/other", "/app//evil"]) {
      const page = await browser.page(`/app/sign-in?next=${encodeURIComponent(next)}`);
      expect(page).not.toContain("evil.test");
    }
    const email = newEmail();
    await browser.post("/app/api/sign-in", { email, next: "https://evil.test/" });
    expect(
      await browser.post("/app/api/sign-in/verify", { code: await codeFor(email), next: "https://evil.test/" }),
    ).toMatchObject({ status: 200, to: "/app" });
  });

  it("sends five codes in ten minutes to an address, with the contract's headers", async () => {
    const browser = new Profile();
    let email: string;
    let answers: Response[];
    do {
      // Again where the window has ended in between.
      email = newEmail();
      answers = [];
      for (let i = 0; i < 6; i++) answers.push(await browser.send("/app/api/sign-in", { json: { email } }));
    } while (new Set(answers.map(({ headers }) => headers.get("X-RateLimit-Reset"))).size > 1);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get("X-RateLimit-Remaining"))).toEqual(["4", "3", "2", "1", "0", "0"]);
    const last = answers[5];
    expect(Number(last?.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(await last?.json()).toMatchObject({ ok: false, code: "RATE_LIMITED" });
    expect(mailOf(email)).toHaveLength(5);
  });

  it("compares five guesses at most, in the browser that asked", async () => {
    const email = newEmail();
    const browser = new Profile();
    await browser.post("/app/api/sign-in", { email });
    const code = await codeFor(email);
    expect((await new Profile().post("/app/api/sign-in/verify", { code })).status).toBe(400);
    const wrong = code === "000000" ? "000001" : "000000";
    const guesses = await Promise.all(
      Array.from({ length: 60 }, () => browser.post("/app/api/sign-in/verify", { code: wrong })),
    );
    expect(guesses.every(({ status }) => status === 400)).toBe(true);
    expect(guesses.filter(({ error }) => String(error).includes("left"))).toHaveLength(4);
    expect((await browser.post("/app/api/sign-in/verify", { code })).status).toBe(400);
  });

  it("names what is wrong with an address or a body", async () => {
    const browser = new Profile();
    for (const email of [
      "",
      "nobody",
      "a@b@c",
      "a b@example.com",
      "x@example.com\nBcc: y@example.com",
      "ä@example.com",
    ]) {
      expect(await browser.post("/app/api/sign-in", { email })).toMatchObject({
        status: 400,
        code: "INVALID_BODY",
        details: { issues: [{ path: "email" }] },
      });
    }
    expect((await browser.post("/app/api/sign-in", [])).status).toBe(400);
    expect((await browser.post("/app/api/sign-in", { email: 1 })).status).toBe(400);
    expect((await browser.post("/app/api/sign-in", { email: "x".repeat(100_000) })).status).toBe(413);
  });
});

describe("sessions", () => {
  it("are listed, and end where they are revoked", async () => {
    const email = newEmail();
    const first = await new Profile().signIn(email);
    const second = await new Profile().signIn(email);
    const list = (await (await first.send("/app/api/sessions")).json()) as {
      current: string;
      sessions: { id: string }[];
    };
    expect(list.sessions).toHaveLength(2);
    const other = list.sessions.find(({ id }) => id !== list.current)?.id ?? "";
    const stranger = await new Profile().signIn(newEmail());
    expect((await stranger.post(`/app/api/sessions/${other}/revoke`)).status).toBe(404);
    expect((await first.post(`/app/api/sessions/${other}/revoke`)).status).toBe(200);
    expect((await second.send("/app/api/session")).status).toBe(401);
    expect((await first.send("/app/api/session")).status).toBe(200);
  });
});

describe("every page", () => {
  it("has a strict policy, and answers what is not there with a page of its own", async () => {
    const browser = new Profile();
    const page = await browser.send("/app/sign-in");
    const policy = page.headers.get("Content-Security-Policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(page.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(page.headers.get("Cache-Control")).toBe("no-store");
    const html = await page.text();
    const assets = [...html.matchAll(/(?:href|src)="(\/app\/assets\/[^"]+)"/g)].map(([, asset]) => asset ?? "");
    expect(assets.length).toBeGreaterThanOrEqual(3);
    for (const asset of new Set(assets)) {
      const answer = await browser.send(asset);
      expect([answer.status, answer.headers.get("Cache-Control")]).toEqual([
        200,
        "public, max-age=31536000, immutable",
      ]);
    }
    const signedIn = await new Profile().signIn(newEmail());
    const missing = await signedIn.send("/app/no-such-team", { headers: { Accept: "text/html" } });
    expect([missing.status, missing.headers.get("Content-Type")]).toEqual([404, "text/html; charset=UTF-8"]);
  });
});
