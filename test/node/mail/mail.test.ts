import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createMailbox } from "../../../src/tooling/local/stack/mailbox.ts";
import { createMailer, invitationMail, MailError, signInMail } from "../../../src/service/mail/index.ts";

const FROM = "Code Context <noreply@example.com>";
const mail = signInMail("ann@example.com", { code: "042137", minutes: 10, site: "http://127.0.0.1:8788" });
/** All at the same moment. */
const delivery = () => ({ id: crypto.randomUUID(), at: new Date(1_700_000_000_000) });

describe("messages", () => {
  it("carry the code as text and as HTML, and no other number that looks like one", () => {
    for (const body of [mail.subject, mail.text, mail.html]) {
      expect(new Set(body.match(/\b\d{6}\b/g))).toEqual(new Set(["042137"]));
    }
    expect(mail.text).toContain("10 minutes");
  });

  it("escape names in HTML, and keep them out of headers", () => {
    const invitation = invitationMail("bob@example.com", {
      team: "<script>x</script>\r\nBcc: all@example.com",
      inviter: '"Ann" & Co',
      role: "admin",
      url: "https://site.test/app/join/abc?x=1&y=2",
      days: 7,
    });
    expect(invitation.html).not.toContain("<script>");
    expect(invitation.html).toContain('href="https://site.test/app/join/abc?x=1&amp;y=2"');
    expect(invitation.subject).not.toMatch(/[\r\n]/);
    expect(invitation.text).toContain("https://site.test/app/join/abc?x=1&y=2");
    expect(invitation.text).toContain("as an admin");
  });
});

describe("the local mailer", async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "mailbox-"));
  afterAll(() => rm(folder, { recursive: true }));

  it("writes one private file a message, with both parts readable", async () => {
    const mailbox = createMailbox(path.join(folder, "mail"));
    const mailer = createMailer(
      {
        MAIL_PROVIDER: "local",
        MAIL_FROM: FROM,
        MAILBOX: { fetch: (url, init) => mailbox(new Request(url, init)) },
      },
      fetch,
    );
    const first = delivery();
    await Promise.all([
      mailer.send(mail, first),
      mailer.send(mail, delivery()),
      mailer.send({ ...mail, subject: "Grüße\r\nBcc: x" }, delivery()),
    ]);
    // Sent again after a crash.
    await mailer.send(mail, first);
    const names = await readdir(path.join(folder, "mail"));
    expect(names).toHaveLength(3);
    for (const name of names) expect(name).toMatch(/^\d{4}-\d\d-\d\dT[\d.-]+Z-ann@example\.com\.eml$/);
    const files = await Promise.all(names.map((name) => readFile(path.join(folder, "mail", name), "utf8")));
    const plain = files.find((file) => file.includes("Subject: 042137 is your")) ?? "";
    expect(plain).toContain("To: ann@example.com\r\n");
    expect(plain).toMatch(/Content-Type: text\/plain[\s\S]+042137[\s\S]+Content-Type: text\/html[\s\S]+042137/);
    const encoded = files.find((file) => file.includes("=?utf-8?B?")) ?? "";
    expect(encoded).not.toMatch(/^Bcc:/m);
    expect((await stat(path.join(folder, "mail", names[0] ?? ""))).mode & 0o777).toBe(0o600);
  });

  it("never leaves its folder, whatever the address", async () => {
    const mailbox = createMailbox(path.join(folder, "other"));
    const headers = { "X-Recipient": "../../../etc/x@example.com" };
    await mailbox(new Request("http://mailbox/", { method: "POST", headers, body: "x" }));
    expect(await readdir(path.join(folder, "other"))).toHaveLength(1);
  });
});

describe("Cloudflare", () => {
  it("gets the message as it is, and its refusals become MailError", async () => {
    const sent: unknown[] = [];
    const env = { MAIL_PROVIDER: "cloudflare", MAIL_FROM: FROM };
    await createMailer({ ...env, EMAIL: { send: async (message) => void sent.push(message) } }, fetch).send(
      mail,
      delivery(),
    );
    expect(sent).toEqual([{ from: FROM, ...mail }]);
    const refusing = createMailer({ ...env, EMAIL: { send: () => Promise.reject(new Error("no domain")) } }, fetch);
    await expect(refusing.send(mail, delivery())).rejects.toBeInstanceOf(MailError);
  });
});

describe("Resend", () => {
  it("gets the message over HTTP, once more with the same key where that may help", async () => {
    const seen: { key: unknown; auth: unknown; agent: unknown; body: unknown }[] = [];
    const statuses = [500, 429, 200, 422];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (data) => (body += String(data)));
      request.on("end", () => {
        const { authorization: auth, "idempotency-key": key, "user-agent": agent } = request.headers;
        seen.push({ key, auth, agent, body: JSON.parse(body) });
        response.writeHead(statuses.shift() ?? 200).end("{}");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const env = {
      MAIL_PROVIDER: "resend",
      MAIL_FROM: FROM,
      MAIL_API_KEY: "re_test",
      MAIL_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    };
    const sent = delivery();
    await createMailer(env, fetch).send(mail, sent);
    const { to, ...rest } = mail;
    expect(seen.map(({ body }) => body)).toEqual(Array.from({ length: 3 }, () => ({ from: FROM, to: [to], ...rest })));
    expect(new Set(seen.map(({ key }) => key))).toEqual(new Set([sent.id]));
    expect(seen[0]).toMatchObject({ auth: "Bearer re_test", agent: "code-context" });
    await expect(createMailer(env, fetch).send(mail, delivery())).rejects.toThrow("Resend answered 422");
    expect(seen).toHaveLength(4);
    server.close();
    server.closeAllConnections();
    await expect(createMailer(env, fetch).send(mail, delivery())).rejects.toThrow("cannot be reached");
  });
});

describe("the configuration", () => {
  it("that makes no sense is named", () => {
    const cases = [
      [{ MAIL_PROVIDER: "none", MAIL_FROM: FROM }, "MAIL_PROVIDER"],
      [{ MAIL_PROVIDER: "local", MAIL_FROM: FROM }, "MAIL_PROVIDER"],
      [{ MAIL_PROVIDER: "cloudflare", MAIL_FROM: FROM }, "EMAIL"],
      [{ MAIL_PROVIDER: "resend", MAIL_FROM: FROM }, "MAIL_API_KEY"],
      [{ MAIL_PROVIDER: "resend", MAIL_FROM: "", MAIL_API_KEY: "x" }, "MAIL_FROM"],
    ] as const;
    for (const [env, name] of cases) expect(() => createMailer(env, fetch)).toThrow(name);
  });
});
