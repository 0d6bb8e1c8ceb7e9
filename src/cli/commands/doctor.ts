import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { configFile, readConfig } from "../machine/config.ts";
import { createClient, credentialsOf, type Context } from "../context.ts";
import { EXIT, toCliError, type ExitCode } from "../exit-codes.ts";
import { makeFolder } from "../machine/folders.ts";
import { gitEnvironment, gitProgram } from "../git/command.ts";
import { cacheDirectory } from "../machine/paths.ts";
import { findProject } from "../project.ts";
import { formatBytes, table } from "../terminal/ui.ts";
import { VERSION } from "../version.ts";
import { hasModes } from "../machine/platform.ts";

/** First release with `rev-parse --path-format`. */
const MIN_GIT = [2, 31] as const;
const LOW_SPACE_BYTES = 512 * 1024 * 1024;

interface Check {
  name: string;
  state: "ok" | "warning" | "failed" | "skipped";
  text: string;
  /** Exit code if the check failed. */
  exit?: ExitCode;
}

/** `codectx doctor`: checks the requirements of codectx and how to fix them. Exits with the code of the first failure. */
export async function doctor(context: Context): Promise<void> {
  const checks: Check[] = [
    { name: "codectx", state: "ok", text: `${VERSION}, Node ${process.versions.node}, ${process.platform}` },
    checkGit(),
    checkConfig(context),
    checkCache(context),
    await checkProject(context),
    ...(await checkService(context)),
  ];
  const failed = checks.find(({ state }) => state === "failed");
  process.exitCode = failed?.exit ?? EXIT.ok;
  const { ui } = context;
  const mark = {
    ok: ui.style("green", "ok"),
    warning: ui.style("yellow", "warn"),
    failed: ui.style("red", "fail"),
    skipped: "-",
  };
  const shown = checks.map(({ name, state, text }) => ({ name, state, text }));
  ui.result({ ok: !failed, exitCode: process.exitCode, checks: shown }, () =>
    table(checks.map(({ name, state, text }) => [mark[state], name, text])),
  );
}

function checkGit(): Check {
  const name = "git";
  try {
    const text = execFileSync(gitProgram(), ["version"], {
      encoding: "utf8",
      env: gitEnvironment(),
      timeout: 10_000,
    }).trim();
    const [major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number) ?? [];
    if (major > MIN_GIT[0] || (major === MIN_GIT[0] && minor >= MIN_GIT[1])) return { name, state: "ok", text };
    return { name, state: "failed", text: `${text}: ${MIN_GIT.join(".")} or newer is needed`, exit: EXIT.usage };
  } catch {
    return { name, state: "failed", text: "not installed or not in PATH", exit: EXIT.usage };
  }
}

function checkConfig({ env }: Context): Check {
  const name = "configuration";
  const file = configFile(env);
  try {
    readConfig(env);
  } catch (error) {
    const { message, exit } = toCliError(error);
    return { name, state: "failed", text: message, exit };
  }
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) return { name, state: "ok", text: `${file} does not exist yet` };
  if (hasModes() && (mode & 0o077) !== 0)
    return { name, state: "warning", text: `${file} can be read by others: run \`chmod 600 ${file}\`` };
  return { name, state: "ok", text: file };
}

function checkCache({ env }: Context): Check {
  const name = "cache";
  const folder = cacheDirectory(env);
  try {
    makeFolder(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize;
    const text = `${folder}, ${formatBytes(free)} free`;
    return { name, state: free < LOW_SPACE_BYTES ? "warning" : "ok", text };
  } catch (error) {
    const { message, exit } = toCliError(error);
    return { name, state: "failed", text: message, exit };
  }
}

async function checkProject(context: Context): Promise<Check> {
  const name = "work tree";
  try {
    const { root, repo, plainFolder, directory } = await findProject(context);
    const kind = plainFolder ? "a folder without git" : (repo ?? "no remote");
    const index = existsSync(directory) ? `index in ${directory}` : "not indexed yet";
    return { name, state: "ok", text: `${root}: ${kind}, ${index}` };
  } catch (error) {
    const { message, exit, code } = toCliError(error);
    if (code === "NOT_A_PROJECT") return { name, state: "skipped", text: message };
    return { name, state: "failed", text: message, exit };
  }
}

/** Checks the service, unless no key is stored: local search works without it. */
async function checkService(context: Context): Promise<Check[]> {
  let credentials;
  try {
    credentials = credentialsOf(context);
  } catch (error) {
    const { message, exit } = toCliError(error);
    return [{ name: "service", state: "failed", text: message, exit }];
  }
  if (credentials.apiKey === undefined)
    return [{ name: "service", state: "skipped", text: "no API key: only local commands work (`codectx login`)" }];
  const client = await createClient(context, credentials);
  const options = { signal: context.stop, maxRetries: 0, timeoutMs: 10_000 };
  try {
    const { status, version } = await client.health(options);
    const service: Check = {
      name: "service",
      state: status === "ok" ? "ok" : "warning",
      text: `${credentials.apiUrl} (${status}, version ${version})`,
    };
    try {
      const { dimension } = await client.checkEmbed(options);
      return [service, { name: "key", state: "ok", text: `accepted; embeddings have ${dimension} dimensions` }];
    } catch (error) {
      const { message, exit } = toCliError(error);
      return [service, { name: "key", state: "failed", text: message, exit }];
    }
  } catch (error) {
    const { message, exit } = toCliError(error);
    return [{ name: "service", state: "failed", text: message, exit }];
  }
}
