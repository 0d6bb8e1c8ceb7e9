import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sampleFiles, Sandbox } from "./support/run.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.create();
});
afterEach(() => sandbox.remove());

describe("setup", () => {
  it("adds itself to a client's configuration, keeps the rest, and does it once", async () => {
    sandbox.repository("app", sampleFiles(1));
    sandbox.write("app/.mcp.json", JSON.stringify({ other: 1, mcpServers: { github: { command: "gh" } } }));
    const asked = await sandbox.run("app", ["setup", "claude-code"]);
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('+     "codectx": {') });
    expect(readFileSync(sandbox.path("app/.mcp.json"), "utf8")).not.toContain("codectx");
    expect((await sandbox.run("app", ["setup", "claude-code", "--yes", "--json"])).json).toMatchObject({
      written: true,
    });
    expect(JSON.parse(readFileSync(sandbox.path("app/.mcp.json"), "utf8"))).toMatchObject({
      other: 1,
      mcpServers: { github: { command: "gh" }, codectx: { args: expect.arrayContaining(["mcp"]) } },
    });
    const again = await sandbox.run("app", ["setup", "claude-code", "--yes", "--json"]);
    expect(again.json).toMatchObject({ written: false, unchanged: true });

    sandbox.write("home/.codex/config.toml", 'model = "o"\n');
    await sandbox.run("app", ["setup", "codex", "--yes"]);
    await sandbox.run("app", ["setup", "codex", "--yes"]);
    const toml = readFileSync(sandbox.path("home/.codex/config.toml"), "utf8");
    expect(toml).toMatch(/^model = "o"\n\n\[mcp_servers\.codectx\]\ncommand = ".+"\nargs = \[.*"mcp" \]\n$/);

    // Another command, variable or argument is another program.
    const mine = JSON.parse(readFileSync(sandbox.path("app/.mcp.json"), "utf8")) as {
      mcpServers: { codectx: { args: string[] } };
    };
    for (const other of [
      { command: "sh", args: ["-c", "evil"] },
      { ...mine.mcpServers.codectx, env: { NODE_OPTIONS: "--require ./evil.js" } },
      { ...mine.mcpServers.codectx, args: [...mine.mcpServers.codectx.args, "x"] },
    ]) {
      sandbox.write("app/.mcp.json", JSON.stringify({ mcpServers: { codectx: other } }));
      chmodSync(sandbox.path("app/.mcp.json"), 0o640);
      const asked = await sandbox.run("app", ["setup", "claude-code"]);
      expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('-     "codectx": {') as unknown });
      const replaced = await sandbox.run("app", ["setup", "claude-code", "--yes", "--json"]);
      expect(replaced.json).toMatchObject({ written: true, replaced: true });
      expect(JSON.parse(readFileSync(sandbox.path("app/.mcp.json"), "utf8"))).toMatchObject({
        mcpServers: { codectx: mine.mcpServers.codectx },
      });
      expect(statSync(sandbox.path("app/.mcp.json")).mode & 0o777).toBe(0o640);
    }
    for (const entry of [
      '[mcp_servers.codectx]\ncommand = "evil"\n',
      `${toml}[mcp_servers.codectx.env]\nNODE_OPTIONS = "--require x"\n`,
      '[mcp_servers]\n"codectx" = { command = "evil" }\n',
      'mcp_servers . "codectx" . command = "evil"\n',
    ]) {
      sandbox.write("home/.codex/config.toml", entry);
      const refused = await sandbox.run("app", ["setup", "codex", "--yes", "--json"]);
      expect(refused).toMatchObject({ code: 2, json: { code: "OTHER_ENTRY" } });
      expect(readFileSync(sandbox.path("home/.codex/config.toml"), "utf8")).toBe(entry);
    }

    expect(await sandbox.run("app", ["setup", "emacs", "--yes"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("claude-code, claude-desktop, cursor, vscode, codex"),
    });
  });

  it("takes the empty folders that it made away again, and no others", async () => {
    sandbox.repository("app", sampleFiles(1));
    const setup = (...args: string[]) => sandbox.run("app", ["setup", "vscode", "--yes", ...args]);
    await setup();
    // A second one, over the file of the first, still knows of the folder.
    await setup("--remote", "--api-url", "https://api.example.com");
    expect(await setup("--undo")).toMatchObject({ code: 0 });
    expect(existsSync(sandbox.path("app/.vscode"))).toBe(false);

    await setup();
    sandbox.write("app/.vscode/tasks.json", "{}");
    await setup("--undo");
    expect(readdirSync(sandbox.path("app/.vscode"))).toEqual(["tasks.json"]);

    rmSync(sandbox.path("app/.vscode/tasks.json"));
    await setup();
    await setup("--undo");
    expect(readdirSync(sandbox.path("app/.vscode"))).toEqual([]);
  });

  it("writes nothing into a shared file that only this machine has", async () => {
    sandbox.repository("app", sampleFiles(1));
    await sandbox.run("app", ["setup", "claude-code", "--yes"]);
    expect(JSON.parse(readFileSync(sandbox.path("app/.mcp.json"), "utf8"))).toEqual({
      mcpServers: { codectx: { command: "npx", args: ["-y", "codectx", "mcp"] } },
    });
  });

  it("asks the service with a key that no file holds", async () => {
    sandbox.repository("app", sampleFiles(1));
    const remote = (client: string, ...args: string[]) =>
      sandbox.run("app", ["setup", client, "--yes", "--json", "--api-url", "https://api.example.com", ...args], {
        env: { CODECTX_API_KEY: "cc_live_secret" },
      });
    expect(await remote("vscode", "--remote")).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(sandbox.path("app/.vscode/mcp.json"), "utf8"))).toEqual({
      inputs: [{ id: "codectx-api-key", type: "promptString", description: "Code Context API key", password: true }],
      servers: {
        codectx: {
          type: "http",
          url: "https://api.example.com/mcp",
          headers: { Authorization: "Bearer ${input:codectx-api-key}" },
        },
      },
    });
    expect((await remote("vscode", "--remote")).json).toMatchObject({ unchanged: true });
    const told = async (client: string) => {
      await sandbox.run("app", ["setup", client, "--undo"]);
      return (await sandbox.run("app", ["setup", client, "--remote", "--yes"])).stdout;
    };
    expect(await told("vscode")).toContain("VS Code asks for the key; the file does not hold it.");
    expect(await told("cursor")).toContain("Set CODECTX_API_KEY where Cursor starts");
    expect(await remote("codex", "--remote")).toMatchObject({ code: 0 });
    expect(readFileSync(sandbox.path("home/.codex/config.toml"), "utf8")).toBe(
      '[mcp_servers.codectx]\nurl = "https://api.example.com/mcp"\nbearer_token_env_var = "CODECTX_API_KEY"\n',
    );
    for (const client of ["zed", "kilo"])
      expect(await remote(client, "--remote")).toMatchObject({ code: 2, json: { code: "NO_REMOTE" } });
    expect(await remote("kilo", "--remote", "--user")).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(sandbox.path("config/kilo/kilo.json"), "utf8"))).toEqual({
      mcp: {
        codectx: {
          type: "remote",
          url: "https://api.example.com/mcp",
          headers: { Authorization: "Bearer {env:CODECTX_API_KEY}" },
          enabled: true,
        },
      },
    });
    expect(await remote("zed", "--oauth", "https://app.example.com/mcp")).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(sandbox.path("app/.zed/settings.json"), "utf8"))).toEqual({
      context_servers: { codectx: { url: "https://app.example.com/mcp" } },
    });
    expect(await remote("zed", "--oauth", "http://app.example.com/mcp")).toMatchObject({ code: 2 });
  });

  it.skipIf(process.platform === "win32")(
    "follows a link in the home folder alone, and waits for no FIFO",
    async () => {
      sandbox.repository("app", sampleFiles(1));
      sandbox.write("outside/settings.json", "{}");
      const target = sandbox.path("outside/settings.json");
      const setup = (...args: string[]) => sandbox.run("app", ["setup", ...args, "--yes", "--json"]);
      symlinkSync(target, sandbox.path("app/.mcp.json"));
      symlinkSync(sandbox.path("outside"), sandbox.path("app/.cursor"));
      for (const client of ["claude-code", "cursor"])
        expect(await setup(client)).toMatchObject({ code: 2, json: { code: "SYMLINK" } });
      expect(readFileSync(target, "utf8")).toBe("{}");
      mkdirSync(sandbox.path("home"), { recursive: true });
      symlinkSync(target, sandbox.path("home/.claude.json"));
      expect(await setup("claude-code", "--user")).toMatchObject({ code: 0, json: { written: true } });
      expect(lstatSync(sandbox.path("home/.claude.json")).isSymbolicLink()).toBe(true);
      expect(readFileSync(target, "utf8")).toContain("codectx");
      rmSync(target);
      expect(await setup("claude-code", "--user")).toMatchObject({ code: 2, json: { code: "SYMLINK" } });
      rmSync(sandbox.path("app/.mcp.json"));
      execFileSync("mkfifo", [sandbox.path("app/.mcp.json")]);
      expect(await setup("claude-code")).toMatchObject({ code: 2, json: { code: "NOT_A_FILE" } });
    },
  );
});
