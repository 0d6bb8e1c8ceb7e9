/** What holds only if statements of several sessions see each other as on a real server: PGlite has a single session. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Db, openDb } from "../../../src/service/db/client.ts";
import { createLogger } from "../../../src/lib/log.ts";
import { sealMail, sendMails } from "../../../src/service/mail/index.ts";
import {
  addUser,
  createOwnTenant,
  finishSignIn,
  invite,
  MAX_GUESSES,
  MAX_WRONG_A_DAY,
  startSignIn,
} from "../../../src/service/users/index.ts";
import { createTenant, saveCredentialKey } from "../../../src/service/tenancy/index.ts";
import {
  type PostgresServer,
  type ServedDatabase,
  servePostgres,
  startPostgres,
} from "../../support/postgres-server.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");
const userAgent = "test";

let server: PostgresServer;
let served: ServedDatabase;
let db: Db;

beforeAll(async () => {
  server = await startPostgres();
  served = await servePostgres(server);
  db = openDb(served.neonUrl);
  await saveCredentialKey(db, KEY);
});
afterAll(async () => {
  await served.close();
  await server.close();
});

const newEmail = () => `${crypto.randomUUID()}@example.com`;

async function owner() {
  const { tenantId } = await createTenant(db, { name: "acme" });
  return { tenantId, ...(await addUser(db, { email: newEmail(), tenantId, role: "owner" })) };
}

it("a person gets five teams of twenty that are created at once", async () => {
  const { userId } = await owner();
  const made = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => createOwnTenant(db, userId, { name: `Team ${i}` })),
  );
  // One of the five is the team that the administrator made.
  expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
  for (const one of made) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "CONFLICT" });
});

it("a code is compared with five guesses, an address's codes with twenty wrong ones a day, and the right one opens one session", async () => {
  const outcomes = async (guesses: { pending: string; code: string }[]) => {
    const results = await Promise.all(guesses.map((guess) => finishSignIn(db, KEY, { ...guess, userAgent })));
    return Object.fromEntries(
      ["signed_in", "wrong", "over", "capped"].map((name) => [
        name,
        results.filter(({ outcome }) => outcome === name).length,
      ]),
    );
  };
  const ask = async (email: string) => {
    const { pending, code } = await startSignIn(db, KEY, { email });
    return { pending, code, wrong: code === "000000" ? "000001" : "000000" };
  };
  const asked = await ask(newEmail());
  const wrong = Array.from({ length: 20 }, () => ({ pending: asked.pending, code: asked.wrong }));
  expect(await outcomes(wrong)).toMatchObject({ wrong: MAX_GUESSES - 1, over: 20 - MAX_GUESSES + 1 });

  const many = newEmail();
  const codes = await Promise.all(Array.from({ length: 10 }, () => ask(many)));
  const spread = codes.flatMap(({ pending, wrong: code }) => Array.from({ length: 4 }, () => ({ pending, code })));
  expect(await outcomes(spread)).toMatchObject({ wrong: MAX_WRONG_A_DAY, capped: 20 });

  const { pending, code } = await ask(newEmail());
  expect(await outcomes(Array.from({ length: 10 }, () => ({ pending, code })))).toMatchObject({ signed_in: 1 });
});

it("a message is sent by one of many senders", async () => {
  const { tenantId, userId } = await owner();
  const by = { userId, role: "owner" } as const;
  const compose = ({ email: to }: { email: string }) =>
    sealMail(KEY, { to, subject: "s", text: "t", html: "h" }, { kind: "invitation", usefulSec: 60 });
  await Promise.all(
    Array.from({ length: 20 }, () => invite(db, { tenantId, email: newEmail(), role: "member", by, compose })),
  );
  const sent: string[] = [];
  const mailer = { maxSec: 5, send: async ({ to }: { to: string }) => void sent.push(to) };
  const deps = { db, encryptionKey: KEY, mailer, log: createLogger({}), now: Date.now };
  await Promise.all(Array.from({ length: 8 }, () => sendMails(deps)));
  expect([sent.length, new Set(sent).size]).toEqual([20, 20]);
});
