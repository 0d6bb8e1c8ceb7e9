import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { mails, signInCodes, sessions, users } from "../../../src/service/db/people-schema.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import {
  finishSignIn,
  invite,
  type KnownBrowser,
  listSessions,
  MAX_GUESSES,
  MAX_WRONG_A_DAY,
  newBrowserMark,
  readBrowserMark,
  readSession,
  readSignUp,
  revokeOtherSessions,
  revokeSession,
  startSignIn,
  sweepPeople,
} from "../../../src/service/users/index.ts";
import { sealMail, signInMail } from "../../../src/service/mail/index.ts";
import { hashToken } from "../../../src/service/users/tokens.ts";
import { countQueriesOfTest } from "../support/database-away.ts";
import { db } from "../support/tenants.ts";
import { KEY, newEmail, team } from "./people.ts";

const userAgent = "test browser";
const wrongCode = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

async function signIn(email = newEmail()) {
  const { pending, code } = await startSignIn(db, KEY, { email });
  const result = await finishSignIn(db, KEY, { pending, code, userAgent });
  if (result.outcome !== "signed_in") throw new Error(`expected to be signed in, got ${result.outcome}`);
  return { ...result, email, pending, code };
}

describe("signing in", () => {
  it("opens a session with the right code, once, in one statement per step", async () => {
    const email = newEmail();
    const queries = await countQueriesOfTest();
    const { pending, code } = await startSignIn(db, KEY, { email });
    expect(queries.tries()).toBe(1);
    const result = await finishSignIn(db, KEY, { pending, code: ` ${code.slice(0, 3)} ${code.slice(3)} `, userAgent });
    expect(queries.tries()).toBe(2);
    const session = result.outcome === "signed_in" ? await readSession(db, result.session) : undefined;
    expect(queries.tries()).toBe(3);
    queries.restore();
    expect(session).toMatchObject({ user: { email }, memberships: [] });
    expect(await finishSignIn(db, KEY, { pending, code, userAgent })).toEqual({ outcome: "over" });
  });

  it("gives the same person the same user", async () => {
    const first = await signIn();
    const second = await signIn(first.email);
    expect(second.userId).toBe(first.userId);
    expect(await listSessions(db, first.userId)).toHaveLength(2);
  });

  it("works only in the browser that asked", async () => {
    const { code } = await startSignIn(db, KEY, { email: newEmail() });
    const other = await startSignIn(db, KEY, { email: newEmail() });
    expect(await finishSignIn(db, KEY, { pending: undefined, code, userAgent })).toEqual({ outcome: "over" });
    expect(await finishSignIn(db, KEY, { pending: "x".repeat(43), code, userAgent })).toEqual({ outcome: "over" });
    if (other.code !== code) {
      expect((await finishSignIn(db, KEY, { pending: other.pending, code, userAgent })).outcome).toBe("wrong");
    }
  });

  it("counts no guess that cannot be a code", async () => {
    const { pending, code } = await startSignIn(db, KEY, { email: newEmail() });
    for (const text of ["", "12345", "1234567", "abcdef", "12345\0", "１２３４５６"]) {
      expect(await finishSignIn(db, KEY, { pending, code: text, userAgent })).toEqual({
        outcome: "wrong",
        guessesLeft: MAX_GUESSES,
      });
    }
    expect((await finishSignIn(db, KEY, { pending, code, userAgent })).outcome).toBe("signed_in");
  });

  it("compares at most five of sixty concurrent guesses, and then not even the right one", async () => {
    const { pending, code } = await startSignIn(db, KEY, { email: newEmail() });
    const guesses = await Promise.all(
      Array.from({ length: 60 }, () => finishSignIn(db, KEY, { pending, code: wrongCode(code), userAgent })),
    );
    const left = guesses.flatMap((guess) => (guess.outcome === "wrong" ? [guess.guessesLeft] : []));
    expect(left.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
    const [row] = await db
      .select({ attempts: signInCodes.attempts })
      .from(signInCodes)
      .where(eq(signInCodes.pendingHash, hashToken(pending)));
    expect(row?.attempts).toBe(MAX_GUESSES);
    expect(await finishSignIn(db, KEY, { pending, code, userAgent })).toEqual({ outcome: "over" });
  });

  it("opens one session when the right code comes four times at once", async () => {
    const { pending, code } = await startSignIn(db, KEY, { email: newEmail() });
    const results = await Promise.all(
      Array.from({ length: 4 }, () => finishSignIn(db, KEY, { pending, code, userAgent })),
    );
    expect(results.filter(({ outcome }) => outcome === "signed_in")).toHaveLength(1);
  });

  it("leaves a person's own sign-in alone when others guess for the same address", async () => {
    const email = newEmail();
    const mine = await startSignIn(db, KEY, { email });
    const theirs = await startSignIn(db, KEY, { email });
    for (let i = 0; i < 10; i++) {
      await finishSignIn(db, KEY, { pending: theirs.pending, code: wrongCode(theirs.code), userAgent });
    }
    expect((await finishSignIn(db, KEY, { ...mine, userAgent })).outcome).toBe("signed_in");
  });

  it("compares twenty wrong guesses a day for an address, however many codes are asked for", async () => {
    const email = newEmail();
    const codes = await Promise.all(Array.from({ length: 8 }, () => startSignIn(db, KEY, { email })));
    const guesses = await Promise.all(
      codes.flatMap(({ pending, code }) =>
        Array.from({ length: 4 }, () => finishSignIn(db, KEY, { pending, code: wrongCode(code), userAgent })),
      ),
    );
    const count = (outcome: string) => guesses.filter((guess) => guess.outcome === outcome).length;
    expect([count("wrong"), count("capped")]).toEqual([MAX_WRONG_A_DAY, 12]);
    const fresh = await startSignIn(db, KEY, { email });
    expect(await finishSignIn(db, KEY, { ...fresh, userAgent })).toEqual({ outcome: "capped" });
    expect((await signIn()).outcome).toBe("signed_in");
  });

  it("goes on in a browser that has signed in as this user, in no other, and with a count of its own", async () => {
    const { email, userId } = await signIn();
    const stranger = await signIn();
    const exhaust = async (browser?: KnownBrowser) => {
      for (let i = 0; i < MAX_WRONG_A_DAY / MAX_GUESSES; i++) {
        const { pending, code } = await startSignIn(db, KEY, { email });
        for (let j = 0; j < MAX_GUESSES; j++) {
          await finishSignIn(db, KEY, { pending, code: wrongCode(code), userAgent, browser });
        }
      }
    };
    const outcome = async (browser?: KnownBrowser) =>
      (await finishSignIn(db, KEY, { ...(await startSignIn(db, KEY, { email })), userAgent, browser })).outcome;
    await exhaust();
    const browser = readBrowserMark(KEY, newBrowserMark(KEY, userId));
    expect(browser?.userId).toBe(userId);
    expect(await outcome()).toBe("capped");
    expect(await outcome(readBrowserMark(KEY, newBrowserMark(KEY, stranger.userId)))).toBe("capped");
    expect(await outcome(browser)).toBe("signed_in");
    await exhaust(browser);
    expect(await outcome(browser)).toBe("capped");
  });

  it("knows only browsers that it has marked itself", () => {
    const mark = newBrowserMark(KEY, crypto.randomUUID());
    const forged = `${crypto.randomUUID()}${mark.slice(36)}`;
    for (const value of [
      undefined,
      "",
      "x",
      forged,
      `${mark}A`,
      mark.slice(1),
      newBrowserMark("y".repeat(44), mark.slice(0, 36)),
    ]) {
      expect(readBrowserMark(KEY, value)).toBeUndefined();
    }
  });

  it("makes accounts only for people whom the setting admits", async () => {
    const domain = `${crypto.randomUUID()}.example`;
    const cases = [
      ["stranger", newEmail(), [], false],
      ["stranger", newEmail(), [domain], false],
      ["of the domain", `ann@${domain}`, [domain], true],
      ["of a domain below it", `ann@x.${domain}`, [domain], false],
      ["invited", newEmail(), [], true],
      ["known", (await signIn()).email, [], true],
    ] as const;
    for (const [who, email, signUp, isAdmitted] of cases) {
      const { tenantId, people } = await team("owner");
      if (who === "invited") await invite(db, { tenantId, email, role: "member", by: people.owner });
      const compose = () =>
        sealMail(KEY, signInMail(email, { code: "1", minutes: 1, site: "" }), { kind: "sign_in_code", usefulSec: 60 });
      const { pending, code, mailId } = await startSignIn(db, KEY, { email, signUp, compose });
      expect([who, await db.$count(mails, eq(mails.id, mailId ?? ""))]).toEqual([who, isAdmitted ? 1 : 0]);
      const { outcome } = await finishSignIn(db, KEY, { pending, code, userAgent, signUp });
      expect([who, outcome]).toEqual([who, isAdmitted ? "signed_in" : "refused"]);
      expect(await db.$count(users, eq(users.email, email))).toBe(isAdmitted ? 1 : 0);
    }
  });

  it("reads the setting, and names what is wrong with it", () => {
    expect([undefined, "", " Invitation ", "open", "Example.com, example.org"].map(readSignUp)).toEqual([
      [],
      [],
      [],
      "open",
      ["example.com", "example.org"],
    ]);
    for (const value of ["closed", "open,example.com", "@example.com", "example.com,", "a b.com"]) {
      expect(() => readSignUp(value)).toThrow("SIGN_UP");
    }
  });

  it("refuses a code after its time, and sweeps it", async () => {
    const { pending, code } = await startSignIn(db, KEY, { email: newEmail() });
    const own = eq(signInCodes.pendingHash, hashToken(pending));
    await db
      .update(signInCodes)
      .set({ expiresAt: new Date(Date.now() - 1_000) })
      .where(own);
    expect(await finishSignIn(db, KEY, { pending, code, userAgent })).toEqual({ outcome: "over" });
    await sweepPeople(db);
    expect(await db.select().from(signInCodes).where(own)).toEqual([]);
  });

  it("keeps neither codes nor cookies in clear", async () => {
    const { pending, code, session, userId } = await signIn();
    const rows = await rowsOf<{ text: string }>(
      db,
      sql`select c::text as text from sign_in_codes c union all select s::text from sessions s union all select u::text from users u`,
    );
    const dump = rows.map(({ text }) => text).join("\n");
    expect(dump).toContain(userId);
    for (const secret of [pending, session]) {
      expect(dump).not.toContain(secret);
      expect(dump).not.toContain(Buffer.from(secret).toString("hex"));
    }
    expect(dump).not.toContain(Buffer.from(code).toString("hex"));
    const plainHash = Buffer.from(hashToken(code)).toString("hex");
    expect(dump).not.toContain(plainHash);
  });
});

describe("sessions", () => {
  it("end when they are revoked or their time is over", async () => {
    const email = newEmail();
    const [a, b, c] = [await signIn(email), await signIn(email), await signIn(email)];
    const ids = new Map(
      await Promise.all([a, b, c].map(async ({ session }) => [session, (await readSession(db, session))?.id] as const)),
    );
    expect(await revokeSession(db, a.userId, ids.get(b.session) ?? "")).toBe(true);
    expect(await revokeSession(db, a.userId, ids.get(b.session) ?? "")).toBe(false);
    expect(await readSession(db, b.session)).toBeUndefined();
    expect(await revokeOtherSessions(db, a.userId, ids.get(a.session) ?? "")).toBe(1);
    expect(await readSession(db, c.session)).toBeUndefined();
    await db
      .update(sessions)
      .set({ expiresAt: new Date(Date.now() - 1_000) })
      .where(eq(sessions.userId, a.userId));
    expect(await readSession(db, a.session)).toBeUndefined();
  });

  it("cannot be revoked by another user", async () => {
    const [mine, theirs] = [await signIn(), await signIn()];
    const id = (await readSession(db, mine.session))?.id ?? "";
    expect(await revokeSession(db, theirs.userId, id)).toBe(false);
    expect(await readSession(db, mine.session)).toBeDefined();
  });

  it("go with their user", async () => {
    const { userId, session } = await signIn();
    await db.delete(users).where(eq(users.id, userId));
    expect(await readSession(db, session)).toBeUndefined();
  });
});
