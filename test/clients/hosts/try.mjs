/**
 * Tries coding agents with the packed command line, each in a fresh home folder, with a scripted model (model.mjs):
 *
 *   npm run release -- --dry-run
 *   cd test/clients/hosts && npm install && npm run try -- ../../../dist/release/codectx-<version>.tgz [host…]
 *
 * `codectx setup`, a second time, the host's own check of its servers and of the plugin, one question that the host answers with the tool,
 * and `setup --undo`, which must bring back every byte. Prints a line for each step and ends with 1 if one failed.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { startModel } from "./model.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PLUGIN = path.join(HERE, "../../../integrations/plugin");
const QUESTION = "Where is totalOf defined?";
const WANTED = "src/cart.ts:2";
const TIMEOUT_MS = 240_000;

/**
 * By the name that `codectx setup` takes: settings that the person had before, below the home or project folder; how to check the server and
 * the plugin; and how to ask without a terminal.
 */
const HOSTS = {
  "claude-code": {
    options: ["--user"],
    file: "home/.claude.json",
    before: '{\n  "theme": "dark",\n  "mcpServers": {}\n}\n',
    list: ["claude", ["mcp", "list"], /codectx.*Connected/],
    plugin: ["claude", ["plugin", "validate", PLUGIN], /passed/i],
    ask: (url) => ({
      command: "claude",
      args: ["-p", QUESTION, "--allowedTools", "mcp__codectx__find_symbol"],
      env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-ant-scripted", ENABLE_TOOL_SEARCH: "false" },
    }),
  },
  gemini: {
    options: ["--user"],
    file: "home/.gemini/settings.json",
    before: '{\r\n  // mine\r\n  "security": { "auth": { "selectedType": "gemini-api-key" } }\r\n}\r\n',
    list: ["gemini", ["mcp", "list"], /codectx.*Connected/],
    plugin: ["gemini", ["extensions", "validate", PLUGIN], /success/i],
    ask: (url) => ({
      command: "gemini",
      args: ["-p", QUESTION, "--approval-mode", "yolo", "-m", "gemini-2.5-flash"],
      env: { GEMINI_API_KEY: "scripted", GOOGLE_GEMINI_BASE_URL: url },
    }),
    env: { GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_API_KEY: "scripted" },
  },
  opencode: {
    options: [],
    file: "project/opencode.json",
    before: '// mine\n{ "$schema": "https://opencode.ai/config.json", "autoupdate": false }',
    list: ["opencode", ["mcp", "list"], /codectx.*connected/s],
    ask: (url) => ({ command: "opencode", args: ["run", "-m", "scripted/m", QUESTION], env: openCodeModel(url) }),
  },
  kilo: {
    options: [],
    file: "project/kilo.json",
    before: "{}\n",
    list: ["kilo", ["mcp", "list"], /codectx.*connected/s],
    ask: (url) => ({ command: "kilo", args: ["run", "--auto", "-m", "scripted/m", QUESTION], env: kiloModel(url) }),
  },
  codex: {
    options: [],
    file: "home/.codex/config.toml",
    before: '# mine\r\nmodel = "m"\r\n\r\n[tui]\r\nanimations = false # no\r\n',
    list: ["codex", ["mcp", "list"], /codectx.*enabled/],
    ask: (url) => {
      const provider = `{ name = "scripted", base_url = "${url}/v1", wire_api = "responses", env_key = "SCRIPTED_KEY" }`;
      const config = ["model_provider=scripted", `model_providers.scripted=${provider}`];
      const args = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
      return {
        command: "codex",
        args: [...args, ...config.flatMap((one) => ["-c", one]), QUESTION],
        env: { SCRIPTED_KEY: "scripted" },
      };
    },
  },
};

function scriptedProvider(url) {
  const options = { baseURL: `${url}/v1`, apiKey: "scripted" };
  const models = { m: { name: "m", tool_call: true, limit: { context: 200_000, output: 8_000 } } };
  return JSON.stringify({ provider: { scripted: { npm: "@ai-sdk/openai-compatible", name: "s", options, models } } });
}
const openCodeModel = (url) => ({ OPENCODE_CONFIG_CONTENT: scriptedProvider(url) });
const kiloModel = (url) => ({ KILO_CONFIG_CONTENT: scriptedProvider(url) });

const [pack = "", ...only] = process.argv.slice(2);
if (!existsSync(pack)) {
  console.error("give the packed codectx: node try.mjs codectx-<version>.tgz [host…]");
  process.exit(2);
}
const root = mkdtempSync(path.join(tmpdir(), "code-context-hosts-"));
const prefix = path.join(root, "prefix");
execFileSync("npm", ["install", "-g", "--no-audit", "--no-fund", "--prefix", prefix, path.resolve(pack)], {
  stdio: "ignore",
});
for (const [name, host] of Object.entries(HOSTS))
  if (only.length === 0 || only.includes(name)) await tryHost(name, host);
rmSync(root, { recursive: true, force: true });

async function tryHost(name, host) {
  const [home, project] = ["home", "project"].map((part) => path.join(root, name, part));
  mkdirSync(path.join(project, "src"), { recursive: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(
    path.join(project, "src/cart.ts"),
    "/** Cents. */\nexport const totalOf = (cents: number[]) => cents.length;\n",
  );
  const bin = [path.join(prefix, "bin"), path.join(HERE, "node_modules/.bin"), path.dirname(process.execPath)];
  const env = {
    HOME: home,
    PATH: [...bin, process.env.PATH].join(path.delimiter),
    LANG: "C.UTF-8",
    CI: "1",
    ...host.env,
  };
  const run = (command, args, more = {}) => runIn(project, command, args, { ...env, ...more });
  await run("git", ["init", "-q"]);
  await run("git", ["add", "-A"]);
  await run("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"]);
  const file = path.join(root, name, host.file);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, host.before);
  const setup = (...args) => run("codectx", ["setup", name, ...host.options, ...args]);

  report(name, "setup", (await setup("--yes")).code === 0);
  const written = readFileSync(file, "utf8");
  await setup("--yes");
  report(name, "a second setup changes nothing", readFileSync(file, "utf8") === written && written !== host.before);
  const [command, args, expected] = host.list;
  const listed = await run(command, args);
  report(name, `${command} ${args.join(" ")}`, expected.test(stripVTControlCharacters(listed.output)), listed.output);
  if (host.plugin) {
    const [validate, words, passed] = host.plugin;
    const checked = await run(validate, words);
    report(
      name,
      `${validate} ${words.slice(0, -1).join(" ")}`,
      passed.test(stripVTControlCharacters(checked.output)),
      checked.output,
    );
  }
  const model = await startModel("totalOf");
  const ask = host.ask(model.url);
  const asked = await run(ask.command, ask.args, ask.env);
  const isAnswered = model.seen.answers.some((answer) => answer.includes(WANTED));
  const seen = JSON.stringify({
    tools: [...model.seen.asked].slice(0, 60),
    answers: model.seen.answers,
    paths: [...model.seen.paths],
  });
  report(name, "a question is answered with the tool", isAnswered, `${asked.output}\n${seen}`);
  model.close();
  // Hosts write to some of these files themselves; what they wrote is not setup's to take back.
  writeFileSync(file, written);
  await setup("--undo", "--yes");
  report(name, "setup --undo brings back every byte", readFileSync(file, "utf8") === host.before);
}

function report(host, step, isOk, output = "") {
  console.log(`${isOk ? "ok    " : "FAILED"}  ${host}: ${step}`);
  if (isOk) return;
  process.exitCode = 1;
  console.log(stripVTControlCharacters(output).slice(-3_000).replaceAll(/^/gm, "          | "));
}

function runIn(cwd, command, args, env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: TIMEOUT_MS });
    let output = "";
    child.stdout.on("data", (part) => (output += part));
    child.stderr.on("data", (part) => (output += part));
    child.once("error", (error) => resolve({ code: -1, output: String(error) }));
    child.once("close", (code) => resolve({ code, output }));
  });
}
