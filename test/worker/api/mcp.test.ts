import { afterEach, describe, expect, it } from "vitest";
import { type ApiTenant, createApiTenant } from "../support/api.ts";
import { startClock, stopClock } from "../support/clock.ts";

const HEADERS = { Accept: "application/json, text/event-stream" };
const LIMIT = 600;
const MESSAGES = 3_000;

let nextId = 1;

/** One request of the `initialize` era; its answer is an event stream. */
async function legacy(tenant: ApiTenant, method: string, params: Record<string, unknown> = {}, path = "/mcp") {
  const response = await tenant.send(`POST ${path}`, {
    headers: { ...HEADERS, "MCP-Protocol-Version": "2025-06-18" },
    json: { jsonrpc: "2.0", id: nextId++, method, params },
  });
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return { response, message: JSON.parse(data) as { result?: Record<string, unknown>; error?: { message: string } } };
}

function remaining(response: Response): number {
  return Number(response.headers.get("X-RateLimit-Remaining"));
}

afterEach(startClock);

describe("POST /mcp", () => {
  it("is initialized and lists tools on a budget apart from that of tool calls", async () => {
    stopClock(Date.now());
    const tenant = await createApiTenant();
    const opened = await legacy(tenant, "initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    expect(opened.message.result).toMatchObject({ protocolVersion: "2025-06-18", serverInfo: { version: "1.2.3" } });
    expect(opened.response.headers.get("Mcp-Session-Id")).toBeNull();
    const { message, response } = await legacy(tenant, "tools/list", {}, "/api/v1/mcp");
    expect(message.result?.["tools"]).toHaveLength(8);
    expect(remaining(opened.response)).toBe(MESSAGES - 1);
    expect(remaining(response)).toBe(MESSAGES - 2);
    const call = await legacy(tenant, "tools/call", { name: "list_repos", arguments: {} });
    expect(remaining(call.response)).toBe(LIMIT - 1);
    expect(response.headers.get("X-Request-Id")).not.toBeNull();
    expect(response.headers.get("Cache-Control")).toBe("no-store");
  });

  it("names the argument that the database could not take", async () => {
    const tenant = await createApiTenant();
    for (const [name, field] of [
      ["outline", "path"],
      ["find_symbol", "name"],
      ["search_code", "query"],
    ] as const) {
      for (const value of ["a\0b", "\ud800"]) {
        const { message } = await legacy(tenant, "tools/call", { name, arguments: { [field]: value } });
        expect(JSON.stringify(message)).toMatch(`${field}: must be well-formed Unicode`);
      }
    }
  });

  it("refuses path globs beyond their limits by the name of their field, as POST /search does", async () => {
    const tenant = await createApiTenant();
    const tooLong = { query: "sessions", paths: ["**/".repeat(200)] };
    const { message } = await legacy(tenant, "tools/call", { name: "search_code", arguments: tooLong });
    expect(JSON.stringify(message)).toContain("paths.0: ");
    const ask = async (field: string, input: Record<string, unknown>) => {
      const { status, body } = await tenant.call("POST /search", { json: input });
      expect([status, body["code"], String(body["error"])]).toEqual([
        400,
        "INVALID_BODY",
        expect.stringContaining(field),
      ]);
    };
    await ask("query: ", { query: `path:${"**/".repeat(2_000)} sessions` });
    await ask("query: ", { query: `${"path:*.ts ".repeat(51)} sessions` });
    await ask("paths.0: ", tooLong);
    await ask("paths", { query: "path:*.ts sessions", paths: Array.from({ length: 50 }, () => "*.ts") });
  });

  it("counts tool calls, and says that nothing is indexed yet", async () => {
    stopClock(Date.now());
    const tenant = await createApiTenant();
    for (const [calls, name, args, text] of [
      [1, "list_repos", {}, "Nothing is indexed yet."],
      [2, "search_code", { query: "sessions" }, "Nothing is indexed yet."],
      [3, "search_code", { query: "sessions", repo: "github.com/acme/shop" }, "no workspace"],
      // Larger than what is read before the credential is accepted.
      [4, "search_code", { query: "é".repeat(32_768) }, "Nothing is indexed yet."],
    ] as const) {
      const { message, response } = await legacy(tenant, "tools/call", { name, arguments: args });
      expect(JSON.stringify(message.result)).toContain(text);
      expect(remaining(response)).toBe(LIMIT - calls);
    }
  });

  it("counts tool calls in the usage of the tenant, and nothing else", async () => {
    const tenant = await createApiTenant();
    await legacy(tenant, "tools/list");
    await legacy(tenant, "tools/call", { name: "list_repos", arguments: {} });
    await legacy(tenant, "tools/call", { name: "search_code", arguments: { query: "sessions" } });
    const { body } = await tenant.call<{ calls: Record<string, number> }>("GET /usage");
    expect(body.calls).toMatchObject({ search: 2, embed: 0 });
  });

  it("refuses pages of other sites before it looks at the key", async () => {
    const tenant = await createApiTenant();
    const json = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    for (const Origin of ["https://evil.example", "http://api.test", "http://localhost:9", "null", "not an origin"]) {
      for (const credential of [undefined, null]) {
        const { status, body } = await tenant.call("POST /mcp", {
          headers: { ...HEADERS, Origin },
          json,
          ...(credential === null && { credential }),
        });
        expect({ Origin, status, code: body["code"] }).toEqual({ Origin, status: 403, code: "FORBIDDEN_ORIGIN" });
      }
    }
    const own = { ...HEADERS, Origin: "https://api.test" };
    expect((await tenant.send("POST /mcp", { headers: own, json })).status).toBe(200);
  });

  it("serves the current era as plain JSON", async () => {
    const tenant = await createApiTenant();
    const { status, headers, body } = await tenant.call<{ result: { content: { text: string }[] } }>("POST /mcp", {
      headers: {
        ...HEADERS,
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "list_repos",
      },
      json: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "list_repos",
          arguments: {},
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          },
        },
      },
    });
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toContain("application/json");
    expect(headers.get("X-RateLimit-Remaining")).toBe(String(LIMIT - 1));
    expect(body.result.content[0]?.text).toBe("Nothing is indexed yet.");
  });

  it("counts every call of a batch, and refuses one that is too long", async () => {
    const tenant = await createApiTenant();
    const call = { jsonrpc: "2.0", method: "tools/call", params: { name: "list_repos", arguments: {} } };
    const batch = (count: number) => Array.from({ length: count }, (_, id) => ({ ...call, id }));
    const three = await tenant.send("POST /mcp", { headers: HEADERS, json: batch(3) });
    expect(remaining(three)).toBe(LIMIT - 3);
    const { status, body } = await tenant.call("POST /mcp", { headers: HEADERS, json: batch(21) });
    expect(status).toBe(400);
    expect(body["code"]).toBe("INVALID_BODY");
  });

  it("counts every message, also what it refuses by its size before it is parsed", async () => {
    stopClock(Date.now());
    const tenant = await createApiTenant();
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
    let left = MESSAGES;
    for (const [json, status, code, cost] of [
      [ping, 200, undefined, 1],
      [[ping, { ...ping, id: 2 }, { ...ping, id: 3 }], 200, undefined, 3],
      [[], 400, undefined, 1],
      [{ ...ping, params: keys(500) }, 200, undefined, 1],
      [{ ...ping, params: keys(2_000) }, 400, "INVALID_BODY", 1],
      [{ ...ping, params: { _meta: { a: Array.from({ length: 2_000 }, () => []) } } }, 400, "INVALID_BODY", 1],
      [{ ...ping, params: keys(10_000) }, 400, "INVALID_BODY", 1],
      [{ ...ping, params: { text: "x".repeat(300_000) } }, 413, "INPUT_TOO_LARGE", 1],
      [{ ...ping, params: { text: "a,[{".repeat(10_000) } }, 200, undefined, 1],
      [Array.from({ length: 21 }, () => ping), 400, "INVALID_BODY", 1],
    ] as const) {
      const response = await tenant.send("POST /mcp", { headers: HEADERS, json });
      left -= cost;
      const text = await response.text();
      expect([response.status, remaining(response)]).toEqual([status, left]);
      if (code !== undefined) expect(JSON.parse(text)).toMatchObject({ code });
    }
    // One message and two calls: each surface pays its own.
    const call = { jsonrpc: "2.0", method: "tools/call", params: { name: "list_repos", arguments: {} } };
    const mixed = [
      { ...call, id: 1 },
      { ...ping, id: 2 },
      { ...call, id: 3 },
    ];
    expect(remaining(await tenant.send("POST /mcp", { headers: HEADERS, json: mixed }))).toBe(LIMIT - 2);
    expect(remaining(await tenant.send("POST /mcp", { headers: HEADERS, json: ping }))).toBe(left - 2);
  });

  it("refuses unknown parameters of a tool with the name that was meant", async () => {
    const tenant = await createApiTenant();
    for (const [name, given, meant] of [
      ["search_code", { query: "a", path: ["src"] }, "unknown parameter path, did you mean paths?"],
      ["search_code", { query: "a", maxTokens: 500 }, "unknown parameter maxTokens, did you mean max_tokens?"],
      ["search_code", { qeury: "a" }, "unknown parameter qeury, did you mean query?"],
      ["read_file", { path: "a", startLine: 1 }, "unknown parameter startLine, did you mean start_line?"],
      ["list_repos", { nonsense: 1 }, "unknown parameter nonsense; known are query, max_tokens"],
    ] as const) {
      const { message } = await legacy(tenant, "tools/call", { name, arguments: given });
      expect(JSON.stringify(message)).toContain(meant);
    }
  });

  it("rejects missing and wrong credentials and other methods with the contract's error body", async () => {
    const tenant = await createApiTenant();
    const json = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const worker = await tenant.addCredential("worker_token");
    for (const credential of [null, worker.value, `${tenant.apiKey}x`]) {
      const { status, body } = await tenant.call("POST /mcp", { headers: HEADERS, json, credential });
      expect({ status, code: body["code"] }).toEqual({ status: 401, code: "INVALID_API_KEY" });
    }
    const get = await tenant.call("GET /mcp", { headers: HEADERS });
    expect(get.status).toBe(405);
    expect(get.headers.get("Allow")).toBe("POST");
    const malformed = await tenant.call("POST /mcp", { headers: { "Content-Type": "application/json" }, body: "{" });
    expect(malformed.body["code"]).toBe("INVALID_BODY");
  });

  it("has no OAuth metadata, so that clients keep the key they were given", async () => {
    const tenant = await createApiTenant();
    for (const path of ["oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"]) {
      const { status, headers, body } = await tenant.call(`GET /.well-known/${path}`, { credential: null });
      expect({ status, code: body["code"] }).toEqual({ status: 404, code: "NOT_FOUND" });
      expect(headers.get("Content-Type")).toContain("application/json");
    }
  });
});
