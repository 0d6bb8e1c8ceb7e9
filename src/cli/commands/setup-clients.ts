/** How to configure an MCP server in a client. */
export interface Client {
  title: string;
  /** Configuration file in the project; undefined if the client has none. */
  project?: string;
  /** Configuration file of the user, below the home folder. */
  user?: string;
  /** JSON property with the servers; undefined for TOML. */
  property?: string;
  /** Properties that the client requires besides command and arguments. */
  extra?: Record<string, string>;
}

export const CLIENTS: Readonly<Record<string, Client>> = {
  "claude-code": { title: "Claude Code", project: ".mcp.json", user: ".claude.json", property: "mcpServers" },
  cursor: { title: "Cursor", project: ".cursor/mcp.json", user: ".cursor/mcp.json", property: "mcpServers" },
  vscode: { title: "VS Code", project: ".vscode/mcp.json", property: "servers", extra: { type: "stdio" } },
  codex: { title: "Codex", user: ".codex/config.toml" },
};

export const CLIENT_NAMES = Object.keys(CLIENTS);
