/** A checkout of a mirror at a commit, and `codectx mcp` on it with the official client. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../support.ts";

const CALL_TIMEOUT_MS = 300_000;

/** A work tree of the commit in `data`, from the bare clone `<owner>+<name>/repo` in `mirrors`; kept from an earlier run. */
export function checkout(mirrors: string, data: string, repo: string, commit: string): string {
  const name = repo.replace("/", "+");
  const folder = path.join(data, name);
  const mirror = path.join(mirrors, name, "repo");
  if (!existsSync(folder)) execFileSync("git", ["clone", "-q", "--shared", "--no-checkout", mirror, folder]);
  execFileSync("git", ["-C", folder, "checkout", "-q", commit]);
  return folder;
}

/** Starts a server on the work tree, with its cache in `data`. */
export async function connect(folder: string, data: string): Promise<Client> {
  const client = new Client({ name: "bench", version: "1" });
  const env = { PATH: process.env["PATH"] ?? "", HOME: data, XDG_CACHE_HOME: path.join(data, "cache") };
  const args = [path.join(ROOT, "src/cli/codectx.ts"), "mcp"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: folder, env }));
  return client;
}

/** The text of a tool's answer or error. */
export async function textOf(client: Client, name: string, input: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: input }, { timeout: CALL_TIMEOUT_MS });
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}
