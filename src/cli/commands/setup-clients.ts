/** How a client is told of an MCP server. */
export interface Client {
  title: string;
  /** File of the project; undefined where the client has none. */
  project?: string;
  /** File of the user, below the home folder. */
  user?: string;
  /** Property of the JSON file that holds the servers; undefined for TOML. */
  property?: string;
  /** What the client wants beside command and arguments. */
  extra?: Record<string, string>;
}

export const CLIENTS: Readonly<Record<string, Client>> = {
  "claude-code": { title: "Claude Code", project: ".mcp.json", user: ".claude.json", property: "mcpServers" },
  cursor: { title: "Cursor", project: ".cursor/mcp.json", user: ".cursor/mcp.json", property: "mcpServers" },
  vscode: { title: "VS Code", project: ".vscode/mcp.json", property: "servers", extra: { type: "stdio" } },
  codex: { title: "Codex", user: ".codex/config.toml" },
};

export const CLIENT_NAMES = Object.keys(CLIENTS);
