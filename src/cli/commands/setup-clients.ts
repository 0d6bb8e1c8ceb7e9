import type { SettingsBase } from "../machine/paths.ts";

/** How a client starts or reaches an MCP server. */
export type Server = { command: string; args: string[] } | { url: string; keyVariable?: string };

/** How to configure an MCP server in a client. */
export interface Client {
  title: string;
  /** Configuration file in the project, with `/`; undefined if the client has none. */
  project?: string;
  /** Configuration file of the user, below a base folder. */
  user?: { base: SettingsBase; path: string };
  /** JSON property with the servers; undefined for TOML. */
  property?: string;
  /** The client's entry for a server in the user's file or a project's; undefined if that file cannot hold such a server. */
  entry: (server: Server, forUser: boolean) => Record<string, unknown> | undefined;
  /** A prompt that the entry refers to, stored beside the servers. */
  input?: (server: Server) => Record<string, unknown> | undefined;
  /** What to do where `entry` gives nothing. */
  otherwise?: string;
}

/** The `Authorization` header with the client's own way to name an environment variable. */
const bearer = (variable: string | undefined, reference: (name: string) => string) =>
  variable === undefined ? {} : { headers: { Authorization: `Bearer ${reference(variable)}` } };

const dollarBraces = (name: string) => `\${${name}}`;
const envColon = (name: string) => `\${env:${name}}`;

/** The form that most clients share; `remote` names the property of the address and what goes with it. */
const common =
  (extra: Record<string, unknown>, remote: (url: string, variable?: string) => Record<string, unknown> | undefined) =>
  (server: Server) =>
    "url" in server ? remote(server.url, server.keyVariable) : { ...extra, ...server };

/** The form of OpenCode and of what was made from it. */
const openCode = (server: Server) =>
  "url" in server
    ? { type: "remote", url: server.url, ...bearer(server.keyVariable, (name) => `{env:${name}}`), enabled: true }
    : { type: "local", command: [server.command, ...server.args], enabled: true };

const VSCODE_INPUT = "codectx-api-key";

/** Clients by the name that `codectx setup` takes. Paths and properties are those of the clients' own documentation. */
export const CLIENTS: Readonly<Record<string, Client>> = {
  "claude-code": {
    title: "Claude Code",
    project: ".mcp.json",
    user: { base: "home", path: ".claude.json" },
    property: "mcpServers",
    entry: common({}, (url, variable) => ({ type: "http", url, ...bearer(variable, dollarBraces) })),
  },
  "claude-desktop": {
    title: "Claude Desktop",
    user: { base: "application-data", path: "Claude/claude_desktop_config.json" },
    property: "mcpServers",
    entry: common({}, () => undefined),
    otherwise: "Claude Desktop takes remote servers as connectors only: add the address in its settings",
  },
  cursor: {
    title: "Cursor",
    project: ".cursor/mcp.json",
    user: { base: "home", path: ".cursor/mcp.json" },
    property: "mcpServers",
    entry: common({}, (url, variable) => ({ url, ...bearer(variable, envColon) })),
  },
  vscode: {
    title: "VS Code",
    project: ".vscode/mcp.json",
    user: { base: "application-data", path: "Code/User/mcp.json" },
    property: "servers",
    entry: common({ type: "stdio" }, (url, variable) => ({
      type: "http",
      url,
      ...bearer(variable, () => `\${input:${VSCODE_INPUT}}`),
    })),
    input: (server) =>
      "url" in server && server.keyVariable !== undefined
        ? { id: VSCODE_INPUT, type: "promptString", description: "Code Context API key", password: true }
        : undefined,
  },
  codex: {
    title: "Codex",
    user: { base: "home", path: ".codex/config.toml" },
    entry: common({}, (url, variable) => ({
      url,
      ...(variable === undefined ? {} : { bearer_token_env_var: variable }),
    })),
  },
  gemini: {
    title: "Gemini CLI",
    project: ".gemini/settings.json",
    user: { base: "home", path: ".gemini/settings.json" },
    property: "mcpServers",
    entry: common({}, (url, variable) => ({ httpUrl: url, ...bearer(variable, dollarBraces) })),
  },
  opencode: {
    title: "OpenCode",
    project: "opencode.json",
    user: { base: "xdg-config", path: "opencode/opencode.json" },
    property: "mcp",
    entry: openCode,
  },
  kilo: {
    title: "Kilo Code",
    project: "kilo.json",
    user: { base: "xdg-config", path: "kilo/kilo.json" },
    property: "mcp",
    entry: (server, forUser) =>
      "url" in server && server.keyVariable !== undefined && !forUser ? undefined : openCode(server),
    otherwise: "Kilo reads no environment variable into a header of a project's file: pass --user",
  },
  windsurf: {
    title: "Windsurf",
    user: { base: "home", path: ".codeium/windsurf/mcp_config.json" },
    property: "mcpServers",
    entry: common({}, (url, variable) => ({ serverUrl: url, ...bearer(variable, envColon) })),
  },
  zed: {
    title: "Zed",
    project: ".zed/settings.json",
    user: { base: "config", path: "zed/settings.json" },
    property: "context_servers",
    entry: common({}, (url, variable) => (variable === undefined ? { url } : undefined)),
    otherwise: "Zed reads no environment variable into a header: give --oauth with the address of the dashboard's /mcp",
  },
  jetbrains: {
    title: "JetBrains Junie",
    project: ".junie/mcp/mcp.json",
    user: { base: "home", path: ".junie/mcp/mcp.json" },
    property: "mcpServers",
    entry: common({}, () => undefined),
    otherwise: "Junie's file holds servers that it starts; add the address in the IDE's MCP settings",
  },
};

export const CLIENT_NAMES = Object.keys(CLIENTS);
