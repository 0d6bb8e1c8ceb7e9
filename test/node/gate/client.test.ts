import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { admit, count, settle, takeFromBucket, usage } from "../../../src/service/gate/client.ts";
import { createCredential, deriveCredentialKey, parseCredential } from "../../../src/service/tenancy/credentials.ts";

const TENANT = "11111111-2222-4333-8444-555555555555";

/** A namespace whose every object answers with `respond`. */
function namespace(respond: (method: string, args: unknown[]) => Promise<unknown>) {
  const names: string[] = [];
  const stub = new Proxy(
    {},
    {
      get:
        (_, method) =>
        (...args: unknown[]) =>
          respond(String(method), args),
    },
  );
  return {
    names,
    idFromName: (name: string) => {
      names.push(name);
      return name;
    },
    get: () => stub,
  };
}

const platformError = (flags: { retryable?: boolean; overloaded?: boolean }) =>
  Object.assign(new Error("platform"), flags);

function credential() {
  const key = deriveCredentialKey("test");
  const parsed = parseCredential(createCredential("api_key", TENANT, key).value, "api_key", key);
  if (!parsed) throw new Error("createCredential and parseCredential disagree");
  return parsed;
}

describe("gate client", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("asks the object of the credential's tenant, without the tenant's secret", async () => {
    const key = credential();
    let seen: unknown[] = [];
    const gates = namespace(async (_, args) => {
      seen = args;
      return { outcome: "unauthorized" };
    });
    expect(await admit(gates, key, "metered", { reserve: { credits: 3, holdMs: 1_000 } })).toEqual({
      outcome: "unauthorized",
    });
    expect(gates.names).toEqual([TENANT]);
    expect(seen).toEqual([
      {
        tenantId: TENANT,
        credential: { kind: key.kind, id: key.id, secretHash: key.secretHash },
        surface: "metered",
        reserve: { credits: 3, holdMs: 1_000 },
      },
    ]);
  });

  it("tries once more where the platform says that may help", async () => {
    let calls = 0;
    const gates = namespace(async () => {
      if (++calls === 1) throw platformError({ retryable: true });
      return { credits: 2 };
    });
    const settled = settle(gates, TENANT, "id", { outcome: "failed" });
    await vi.advanceTimersByTimeAsync(200);
    expect(await settled).toEqual({ credits: 2 });
  });

  it.each([
    ["a second failure", { retryable: true }, 2],
    ["an overloaded object", { retryable: true, overloaded: true }, 1],
    ["any other failure", {}, 1],
  ])("is unavailable after %s", async (_, flags, attempts) => {
    let calls = 0;
    const gates = namespace(async () => {
      calls++;
      throw platformError(flags);
    });
    const logged = vi.spyOn(console, "log").mockReturnValue();
    const answer = usage(gates, TENANT, "credential");
    await vi.advanceTimersByTimeAsync(200);
    expect(await answer).toEqual({ outcome: "unavailable" });
    expect(calls).toBe(attempts);
    expect(logged.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown)).toEqual([
      expect.objectContaining({
        event: "gate_unavailable",
        tenantId: TENANT,
        method: "usage",
        error: "Error: platform",
      }),
    ]);
  });

  it("is unavailable when there is no answer in time", async () => {
    const gates = namespace(() => new Promise(() => {}));
    const answers = Promise.all([
      admit(gates, credential(), "index"),
      takeFromBucket(gates, "salt", { surface: "healthz", subject: "203.0.113.9" }),
      count(gates, TENANT, "key", "index", 5),
    ]);
    // Hashing the address takes real time: only what has been asked runs against the clock.
    await vi.waitFor(() => expect(gates.names).toHaveLength(3), 20_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await answers).toEqual([{ outcome: "unavailable" }, { outcome: "unavailable" }, { ok: false }]);
  });

  it("does not hide arguments that make no sense", async () => {
    const gates = namespace(async () => {
      throw new RangeError("tokens must be a whole number of at least 0");
    });
    await expect(settle(gates, TENANT, "id", { outcome: "failed" })).rejects.toThrow(RangeError);
  });
});
