import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { createApp } from "../../../src/workers/api/app.ts";
import { credentials } from "../../../src/service/db/credentials-schema.ts";
import { tenants } from "../../../src/service/db/schema.ts";
import type { CredentialKind } from "../../../src/service/gate/types.ts";
import { createCredential } from "../../../src/service/tenancy/credentials.ts";
import { credentialKey, db, ENCRYPTION_KEY } from "./tenants.ts";

const api = createApp();

/** Lines that the service has logged. Not a spy: files share this module, and some restore all spies. */
export const logged: string[] = [];
console.log = (line: string) => void logged.push(line);

/** What the api Worker's configuration would say; each test changes what it is about. */
const DEFAULT_VARS = {
  SERVICE_VERSION: "1.2.3",
  REGION: "test",
  EMBED_PROVIDER: "builtin",
  RERANK_PROVIDER: "builtin",
  UPSTREAM_TIMEOUT_MS: "60000",
  ENCRYPTION_KEY,
};

export interface ApiCall extends RequestInit {
  /** Sent as JSON. */
  json?: unknown;
  /** Credential; the tenant's API key when absent, none at all when null. */
  credential?: string | null;
}

export interface Answer<T = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: T;
}

export interface ApiTenant {
  tenantId: string;
  apiKey: string;
  /** Does a request and waits until everything it left running is over. */
  call<T = Record<string, unknown>>(request: `${string} ${string}`, options?: ApiCall): Promise<Answer<T>>;
  /** The same for answers that are no JSON. */
  send(request: `${string} ${string}`, options?: ApiCall): Promise<Response>;
  addCredential(kind: CredentialKind): Promise<{ id: string; value: string }>;
}

/** The api as one tenant sees it, run with these variables. */
export async function createApiTenant(vars: Record<string, string> = {}, monthlyCredits = 10_000): Promise<ApiTenant> {
  const tenantId = crypto.randomUUID();
  await db.insert(tenants).values({ id: tenantId, name: "test", monthlyCredits });
  const addCredential = async (kind: CredentialKind) => {
    const { id, value, secretHash } = createCredential(kind, tenantId, credentialKey);
    await db.insert(credentials).values({ id, tenantId, kind, name: "test", secretHash });
    return { id, value };
  };
  const apiKey = (await addCredential("api_key")).value;
  const bindings = { ...env, ...DEFAULT_VARS, ...vars };

  const send = async (request: string, { json, credential = apiKey, ...init }: ApiCall = {}) => {
    const [method = "GET", path = "/"] = request.split(" ");
    const headers = new Headers(init.headers);
    if (credential !== null && !headers.has("Authorization")) headers.set("Authorization", `Bearer ${credential}`);
    if (json !== undefined) {
      if (!headers.has("Content-Type")) headers.set("Content-Type", "application/json");
      init.body = JSON.stringify(json);
    }
    const context = createExecutionContext();
    const response = await api.fetch(
      new Request(`https://api.test${path}`, { ...init, method, headers }),
      bindings,
      context,
    );
    await waitOnExecutionContext(context);
    return response;
  };
  return {
    tenantId,
    apiKey,
    send,
    addCredential,
    async call<T>(request: `${string} ${string}`, options?: ApiCall) {
      const response = await send(request, options);
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: (text === "" ? null : JSON.parse(text)) as T };
    },
  };
}
