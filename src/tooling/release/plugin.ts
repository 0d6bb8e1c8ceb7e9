/**
 * The plugin for coding agents, `integrations/plugin`: one description, written in the form of each host. `node src/tooling/release/plugin.ts`
 * writes the files; a test compares them. Skills are files of their own, which all hosts find in `skills/`.
 */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { PROJECT_ROOT } from "../local/project.ts";
import { MCP_DESCRIPTION, projectManifest } from "./manifest.ts";

const FOLDER = "integrations/plugin";
const NAME = "code-context";
const AGENT_PLUGINS = "https://agent-plugins.org/schemas/1.0.0";

/** Texts of the generated files, by path from the project's root. */
export function pluginFiles({ version, license } = projectManifest()): Record<string, string> {
  const about = {
    name: NAME,
    version,
    description: MCP_DESCRIPTION,
    author: { name: "Code Context" },
    license,
    keywords: ["code-search", "mcp", "symbols"],
  };
  const server = { command: "npx", args: ["--yes", `codectx@${version}`, "mcp"] };
  const files: Record<string, unknown> = {
    // Agent Plugins 1.0, which Cursor, VS Code and Copilot read as it is.
    "plugin.json": { $schema: `${AGENT_PLUGINS}/plugin.schema.json`, ...about },
    "mcp.json": { $schema: `${AGENT_PLUGINS}/mcp.schema.json`, mcpServers: { [NAME]: { type: "stdio", ...server } } },
    ".mcp.json": { mcpServers: { [NAME]: server } },
    ".claude-plugin/plugin.json": about,
    ".cursor-plugin/plugin.json": about,
    ".codex-plugin/plugin.json": { ...about, skills: "./skills/", mcpServers: "./.mcp.json" },
    "gemini-extension.json": { name: NAME, version, description: MCP_DESCRIPTION, mcpServers: { [NAME]: server } },
  };
  return Object.fromEntries(
    Object.entries(files).map(([file, value]) => [`${FOLDER}/${file}`, `${JSON.stringify(value, undefined, 2)}\n`]),
  );
}

/** Writes the files for the version in package.json. */
export async function writePlugin(): Promise<void> {
  for (const [file, text] of Object.entries(pluginFiles())) {
    const target = path.join(PROJECT_ROOT, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}

if (import.meta.main) await writePlugin();
