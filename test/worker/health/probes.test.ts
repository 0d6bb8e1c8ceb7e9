import { describe, expect, it } from "vitest";
import type { Db } from "../../../src/service/db/client.ts";
import { embeddingAddress } from "../../../src/service/health/embedding-address.ts";
import { QueueHeartbeat } from "../../../src/service/health/heartbeat.ts";
import { ProbeError, runProbe } from "../../../src/service/health/probe.ts";
import {
  databaseProbe,
  embeddingProbe,
  gateProbe,
  randomTenant,
  storageProbe,
} from "../../../src/service/health/probes.ts";
import type { HealthHeartbeat } from "../../../src/service/health/types.ts";
import { createTenant, db } from "../support/tenants.ts";

const signal = new AbortController().signal;

describe("probe", () => {
  it("reports what it found and shows nothing it should not", async () => {
    expect(await runProbe(async () => {})).toMatchObject({ ok: true });
    const secret = "connect ECONNREFUSED postgres://user:secret@10.0.0.7:5432";
    const check = await runProbe(() => Promise.reject(new Error(secret)));
    expect(check).toMatchObject({ ok: false, error: "not reachable" });
    expect(await runProbe(() => Promise.reject(new ProbeError("answered with status 503")))).toMatchObject({
      ok: false,
      error: "answered with status 503",
    });
  });

  it("of the database finds sessions under which limits would not hold", async () => {
    await expect(databaseProbe(db)(signal)).resolves.toBeUndefined();
    const unfit = { execute: async () => ({ rows: [{ fits: false }] }) } as unknown as Db;
    await expect(databaseProbe(unfit)(signal)).rejects.toThrow("has another isolation or date style");
  });

  it("of storage needs no object to be there", async () => {
    await expect(storageProbe({ head: async () => null })(signal)).resolves.toBeUndefined();
    await expect(storageProbe({ head: () => Promise.reject(new Error("down")) })(signal)).rejects.toThrow();
  });

  it("of a model provider takes any answer but a server error", async () => {
    const answering = (status: number) =>
      embeddingProbe(
        async () => new Response("body", { status }),
        () => "https://models.example/v1",
      );
    for (const status of [200, 401, 404, 429]) await expect(answering(status)(signal)).resolves.toBeUndefined();
    for (const status of [500, 503])
      await expect(answering(status)(signal)).rejects.toThrow(`answered with status ${status}`);
    const nowhere = embeddingProbe(
      () => Promise.reject(new Error("must not be asked")),
      () => undefined,
    );
    await expect(nowhere(signal)).resolves.toBeUndefined();
    const wrong = embeddingProbe(
      () => Promise.reject(new Error("must not be asked")),
      () => embeddingAddress({ EMBED_PROVIDER: "nonsense" }),
    );
    await expect(wrong(signal)).rejects.toThrow("not configured properly");
  });

  it("of the gates calls a tenant's, and one that failed until it answers", async () => {
    const called: string[] = [];
    const broken = new Set<string>();
    const answer = async (name: string) => {
      called.push(name);
      if (broken.has(name)) throw new Error("no such column: end_ms");
    };
    const tenants = ["a", "b", "c", "d"];
    const probe = gateProbe(
      (name) => ({ usage: () => answer(name), check: () => answer(name) }),
      async () => tenants.shift(),
    );
    await probe(signal);
    broken.add("b");
    await expect(probe(signal)).rejects.toThrow("end_ms");
    await expect(probe(signal)).rejects.toThrow("end_ms");
    broken.clear();
    await probe(signal);
    await probe(signal);
    broken.add("health");
    await expect(probe(signal)).rejects.toThrow("end_ms");
    expect(called.filter((name) => name !== "health")).toEqual(["a", "b", "b", "b", "c"]);
    const withoutDatabase = gateProbe(
      () => ({ usage: async () => ({}), check: () => Promise.reject(new Error("must not be asked")) }),
      () => Promise.reject(new Error("database is down")),
    );
    await expect(withoutDatabase(signal)).resolves.toBeUndefined();
  });

  it("of the gates finds a tenant, whichever id it draws", async () => {
    await createTenant();
    for (let i = 0; i < 5; i++) expect(await randomTenant(db)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("knows where a provider listens", () => {
    expect(embeddingAddress({ EMBED_PROVIDER: "builtin", EMBED_BASE_URL: "" })).toBeUndefined();
    expect(embeddingAddress({ EMBED_PROVIDER: "none" })).toBeUndefined();
    expect(embeddingAddress({ EMBED_PROVIDER: "openai", EMBED_BASE_URL: "http://127.0.0.1:9000/v1" })).toBe(
      "http://127.0.0.1:9000/v1",
    );
    expect(embeddingAddress({ EMBED_PROVIDER: "voyage", EMBED_API_KEY: "k" })).toMatch(/^https:/);
  });
});

describe("queue heartbeat", () => {
  it("is content with the heartbeat it sent, or with a recent one", async () => {
    let nowMs = 1_000_000;
    const sent: HealthHeartbeat[] = [];
    const heartbeat: QueueHeartbeat = new QueueHeartbeat(
      async (message) => {
        sent.push(message);
        if (sent.length === 1) heartbeat.seen(message.sentAt);
      },
      () => nowMs,
    );
    await heartbeat.probe(signal, 10_000);
    nowMs += 30_000;
    await heartbeat.probe(signal, 1);
    expect(sent).toEqual([
      { kind: "health", sentAt: 1_000_000 },
      { kind: "health", sentAt: 1_030_000 },
    ]);
    nowMs += 90_000;
    await expect(heartbeat.probe(signal, 1)).rejects.toThrow("messages are not delivered");
  });

  it("says when the queue takes nothing", async () => {
    const heartbeat = new QueueHeartbeat(() => Promise.reject(new Error("queue 7f3a at 10.0.0.1")));
    await expect(heartbeat.probe(signal, 1)).rejects.toThrow("does not accept messages");
  });
});
