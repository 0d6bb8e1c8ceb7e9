import { spawn } from "node:child_process";
import { devNull } from "node:os";
import { CliError, EXIT } from "./exit-codes.ts";

/** A git command that prints nothing for this long is stopped: a FIFO in place of a file would block it for ever. */
const IDLE_TIMEOUT_MS = 30_000;
const MAX_STDERR_BYTES = 16 * 1024;

/**
 * Settings that keep a repository's own `.git/config` from starting programs. They have the scope of the command line, which
 * overrides every configuration file. Filters are named by the repository: see {@link withoutFilters}.
 */
const SAFE_SETTINGS: Readonly<Record<string, string>> = {
  "core.fsmonitor": "false",
  "core.hooksPath": devNull,
  "core.pager": "cat",
  "core.sshCommand": "false",
  "core.gitProxy": "",
  "core.alternateRefsCommand": "",
  "core.askPass": "",
  "credential.helper": "",
  "diff.external": "",
  "gpg.program": "false",
  "log.showSignature": "false",
  "protocol.allow": "never",
  "protocol.ext.allow": "never",
  "submodule.recurse": "false",
  // A folder of the checkout that looks like a git directory does not become one.
  "safe.bareRepository": "explicit",
};

const SAFE_ENVIRONMENT: Readonly<Record<string, string>> = {
  // Refuses every transport, whatever the configuration allows: objects missing from a partial clone are not fetched.
  GIT_ALLOW_PROTOCOL: "",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  // Reading must not get in the way of the user's own git.
  GIT_OPTIONAL_LOCKS: "0",
  LC_ALL: "C",
};

/** A git command that failed; the message is the first line of what git said. */
export class GitCommandError extends CliError {
  readonly stderr: string;

  constructor(command: string, stderr: string) {
    super(EXIT.usage, "GIT_FAILED", `git ${command} failed: ${stderr.split("\n")[0]?.replace(/^fatal: /, "") ?? ""}`);
    this.stderr = stderr;
  }
}

/** Environment of a git command that reads an untrusted repository. `settings` are added to the safe ones. */
export function gitEnvironment(
  settings: Readonly<Record<string, string>> = {},
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  // The user may pass settings this way too; ours come after them and win.
  const first = Number(env["GIT_CONFIG_COUNT"] ?? 0) || 0;
  const entries = Object.entries({ ...SAFE_SETTINGS, ...settings });
  const config: NodeJS.ProcessEnv = { GIT_CONFIG_COUNT: String(first + entries.length) };
  for (const [position, [key, value]] of entries.entries()) {
    config[`GIT_CONFIG_KEY_${first + position}`] = key;
    config[`GIT_CONFIG_VALUE_${first + position}`] = value;
  }
  return { ...env, ...SAFE_ENVIRONMENT, ...config };
}

/** Settings that turn off every filter that a configuration names, so that comparing files starts no program. */
export async function withoutFilters(cwd: string): Promise<Record<string, string>> {
  const names = new Set<string>();
  const keys = await gitList(cwd, ["config", "-z", "--name-only", "--get-regexp", String.raw`^filter\.`]);
  for (const key of keys) names.add(key.slice("filter.".length, key.lastIndexOf(".")));
  const settings: Record<string, string> = {};
  for (const name of names) {
    for (const part of ["clean", "smudge", "process"]) settings[`filter.${name}.${part}`] = "";
    settings[`filter.${name}.required`] = "false";
  }
  return settings;
}

/** Output of a git command. Throws {@link GitCommandError} where git fails or does not answer. */
export function git(
  cwd: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", args, { cwd, env: gitEnvironment(settings), stdio: ["ignore", "pipe", "pipe"] });
    const output: Buffer[] = [];
    let stderr = "";
    const timer = setTimeout(() => {
      stderr = `no answer within ${IDLE_TIMEOUT_MS / 1_000} s`;
      child.kill("SIGKILL");
    }, IDLE_TIMEOUT_MS);
    child.stdout.on("data", (part: Buffer) => {
      timer.refresh();
      output.push(part);
    });
    child.stderr.on("data", (part: Buffer) => {
      if (stderr.length < MAX_STDERR_BYTES) stderr += part.toString();
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(
        error.code === "ENOENT" ? new CliError(EXIT.usage, "NO_GIT", "git is not installed or not in PATH") : error,
      );
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(Buffer.concat(output));
      else reject(new GitCommandError(args[0] ?? "", stderr.trim()));
    });
  });
}

/** One line of output; undefined where git fails. */
export async function gitLine(cwd: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return (await git(cwd, args)).toString().trim() || undefined;
  } catch (error) {
    if (error instanceof GitCommandError) return undefined;
    throw error;
  }
}

/** Output separated by NUL; nothing where git fails. */
export async function gitList(cwd: string, args: readonly string[]): Promise<string[]> {
  try {
    return splitNul(await git(cwd, args));
  } catch (error) {
    if (error instanceof GitCommandError) return [];
    throw error;
  }
}

export function splitNul(output: Buffer): string[] {
  const parts = output.toString("utf8").split("\0");
  parts.pop();
  return parts;
}
