/** Search over what is indexed, and the MCP server. They read the tenant's existing indexes. */
import { answered, type Check, equal, holds, refused, type ServiceUnderTest } from "../target.ts";

const TOOLS = ["find_references", "find_symbol", "grep", "impact", "list_repos", "outline", "read_file", "search_code"];
const REVISION = "2025-11-25";

/** A request of the protocol with sessions: the one that most clients still speak. */
async function rpc(target: ServiceUnderTest, method: string, params: object = {}): Promise<Record<string, unknown>> {
  const answer = await target.call("/mcp", {
    as: "apiKey",
    json: { jsonrpc: "2.0", id: 1, method, params },
    headers: { Accept: "application/json, text/event-stream", "MCP-Protocol-Version": REVISION },
  });
  equal(answer.status, 200, `the status of ${method}`);
  const event = /^data: ?(.+)$/m.exec(answer.text)?.[1];
  const message = event === undefined ? answer.body : (JSON.parse(event) as Record<string, unknown>);
  return message["result"] as Record<string, unknown>;
}

export const searchChecks: Check[] = [
  {
    title: "POST /search answers with places and the commits that they are of",
    needs: ["apiKey"],
    run: async (target) => {
      const answer = await target.call("/search", { as: "apiKey", json: { query: "where does it start", limit: 3 } });
      answered(answer, { ok: "boolean", results: "array", indexes: "array", truncated: "boolean", tokens: "number" });
      const { results, indexes } = answer.body as { results: { gitSha: string }[]; indexes: { gitSha: string }[] };
      holds(results.length <= 3, `${results.length} results where 3 were asked for`);
      const commits = new Set(indexes.map(({ gitSha }) => gitSha));
      for (const { gitSha } of results) holds(commits.has(gitSha), `no index is at ${gitSha}`);
      return `${indexes.length} workspaces searched`;
    },
  },
  {
    title: "POST /search refuses an empty query, and does not know a foreign repository",
    needs: ["apiKey"],
    run: async (target) => {
      refused(await target.call("/search", { as: "apiKey", json: { query: "" } }), 400, "INVALID_BODY");
      const json = { query: "q", repo: "conformance.example/no/such-repository" };
      refused(await target.call("/search", { as: "apiKey", json }), 404, "NO_WORKSPACE");
    },
  },
  {
    title: "POST /mcp serves its tools; /.well-known/ is a JSON 404, so that clients keep their key",
    needs: ["apiKey"],
    run: async (target) => {
      const clientInfo = { name: "conformance", version: "1" };
      const hello = await rpc(target, "initialize", { protocolVersion: REVISION, capabilities: {}, clientInfo });
      equal(typeof hello["serverInfo"], "object", "the type of serverInfo");
      const { tools } = (await rpc(target, "tools/list")) as { tools: { name: string }[] };
      equal(tools.map(({ name }) => name).toSorted(), TOOLS, "the tools");
      const called = await rpc(target, "tools/call", { name: "list_repos", arguments: {} });
      holds(Array.isArray(called["content"]), "list_repos answers without content");
      refused(await target.call("/.well-known/oauth-protected-resource"), 404, "NOT_FOUND");
      refused(await target.call("/mcp", { json: {} }), 401, "INVALID_API_KEY");
    },
  },
];
