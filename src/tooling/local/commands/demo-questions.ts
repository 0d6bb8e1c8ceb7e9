/** The end of the demo: questions about the indexed repository, answered over HTTP and over MCP. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { CodeContextClient } from "../../../interface/client/index.ts";
import { visible } from "../../../lib/display.ts";
import type { ServiceFile } from "../stack/service-file.ts";

/** Questions about this repository. */
export const OWN_QUESTIONS: readonly string[] = ["how are credits reserved", "how does a push start an index run"];
/** Questions that fit any repository. */
export const COMMON_QUESTIONS: readonly string[] = ["where does the program start", "how are errors handled"];
const RESULTS_SHOWN = 3;
const LINES_SHOWN = 12;

/** A result or a symbol as one line; names in foreign repositories may hold controls. */
export function placeLine(what: { kind: string; qualifiedName: string } | null, place: string): string {
  return visible(`  ${what === null ? "" : `${what.kind.padEnd(10)} ${what.qualifiedName}  `}${place}`);
}

/** Asks the questions, then for the callers of the definition that the last answer names first. Throws errors of the clients. */
export async function askQuestions(service: ServiceFile, questions: readonly string[]): Promise<void> {
  const { apiUrl, apiKey, workspaceId } = service;
  const client = new CodeContextClient({ baseUrl: apiUrl, apiKey });
  let name = "main";
  for (const query of questions) {
    const startedAt = performance.now();
    const { results } = await client.search({ query, workspaceId, limit: RESULTS_SHOWN, maxTokens: 1_000 });
    console.log(`POST /search  "${query}"  ${Math.round(performance.now() - startedAt)} ms`);
    for (const { path, startLine, endLine, symbol } of results)
      console.log(placeLine(symbol, `${path}:${startLine}-${endLine}`));
    console.log("");
    name = results.find(({ symbol }) => symbol !== null)?.symbol?.name ?? name;
  }
  const mcp = new Client({ name: "code-context-demo", version: "1" });
  const requestInit = { headers: { Authorization: `Bearer ${apiKey}` } };
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${apiUrl}/mcp`), { requestInit }));
  try {
    console.log(`POST /mcp  find_references "${name}", its callers`);
    const question = { name, relation: "callers", certainty: "likely" };
    const { content } = await mcp.callTool({ name: "find_references", arguments: question });
    const text = Array.isArray(content) && content[0]?.type === "text" ? content[0].text : "";
    for (const line of text.split("\n").slice(0, LINES_SHOWN)) console.log(`  ${line}`);
  } finally {
    await mcp.close();
  }
}
