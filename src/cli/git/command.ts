import { spawn } from "node:child_process";
import { devNull } from "node:os";
import { CliError, EXIT } from "../exit-codes.ts";
import { programFile } from "../machine/platform.ts";
import { unlessBlocked } from "./blocked.ts";

/** A git command without output for this long is killed; for example, a FIFO in place of a file would block it forever. */
const IDLE_TIMEOUT_MS = 30_000;
const MAX_STDERR_BYTES = 16 * 1024;

/**
 * Settings that prevent a repository's `.git/config` from starting programs. Set on the command line, which overrides every
 * configuration file. For filters, whose names the repository chooses, see {@link gitComparing}.
 */
const SAFE_SETTINGS: Readonly<Record<string, string>> = {
  "core.fsmonitor": "false",
  "core.hooksPath": devNull,
  // Paths of more than 260 characters, which git for Windows refuses otherwise.
  "core.longPaths": "true",
  "core.pager": "cat",
  "core.sshCommand": "false",
  "core.gitProxy": "",
  "core.alternateRefsCommand": "",
  // Nothing checks that this file says of a commit what the commit says itself.
  "core.commitGraph": "false",
  "core.askPass": "",
  "credential.helper": "",
  "diff.external": "",
  "gpg.program": "false",
  "log.showSignature": "false",
  "protocol.allow": "never",
  "protocol.ext.allow": "never",
  "submodule.recurse": "false",
  // Do not treat folders of the checkout that look like bare repositories as such.
  "safe.bareRepository": "explicit",
};

const SAFE_ENVIRONMENT: Readonly<Record<string, string>> = {
  // An object is what its id names: neither `git replace` nor a file of grafts puts another in its place.
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_GRAFT_FILE: devNull,
  // Forbid every transport, so that missing objects of a partial clone are not fetched.
  GIT_ALLOW_PROTOCOL: "",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  // Take no locks that could block the user's own git commands.
  GIT_OPTIONAL_LOCKS: "0",
  LC_ALL: "C",
};

/**
 * Variables of git that are passed on: they say where the repository, git and the user's configuration are. Others change what a
 * command answers (`GIT_REPLACE_REF_BASE`, `GIT_LITERAL_PATHSPECS`), where it writes (`GIT_TRACE`), or override the settings above
 * (`GIT_CONFIG_PARAMETERS`).
 */
const PASSED_ON =
  /^GIT_(?:DIR|COMMON_DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|EXEC_PATH|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|(?:KEY|VALUE)_\d+))$/;

/** Environment variables that tell git where a repository is or how it is configured. */
export function steeringVariables(env: NodeJS.ProcessEnv = process.env): string[] {
  return Object.entries(env).flatMap(([name, value]) => (PASSED_ON.test(name) ? [`${name}=${value}`] : []));
}

/** A failed git command; the message is the first line of its output. */
export class GitCommandError extends CliError {
  readonly stderr: string;
  /** It was killed because it did not answer. */
  readonly hung: boolean;

  constructor(command: string, stderr: string, hung = false) {
    super(EXIT.usage, "GIT_FAILED", `git ${command} failed: ${failureIn(stderr)}`);
    this.stderr = stderr;
    this.hung = hung;
  }
}

/** The line of git's messages that says what failed, since hints and warnings may stand above it, and how to trust another user's folder. */
function failureIn(stderr: string): string {
  const lines = stderr.split("\n");
  const told = lines.find((line) => /^(?:fatal|error): /.test(line)) ?? lines[0] ?? "";
  const trust = lines.find((line) => line.trim().startsWith("git config --global --add safe.directory "));
  const remedy = trust === undefined ? "" : `; if you trust its files: ${trust.trim()}`;
  return told.replace(/^fatal: /, "") + remedy;
}

/** Environment of a git command that reads an untrusted repository. `settings` are added to the safe ones. */
export function gitEnvironment(
  settings: Readonly<Record<string, string>> = {},
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  // Append to settings that the user passed this way; later ones win.
  const first = Number(env["GIT_CONFIG_COUNT"] ?? 0) || 0;
  const entries = Object.entries({ ...SAFE_SETTINGS, ...settings });
  const config: NodeJS.ProcessEnv = { GIT_CONFIG_COUNT: String(first + entries.length) };
  for (const [position, [key, value]] of entries.entries()) {
    config[`GIT_CONFIG_KEY_${first + position}`] = key;
    config[`GIT_CONFIG_VALUE_${first + position}`] = value;
  }
  const passed = Object.entries(env).filter(([name]) => !name.startsWith("GIT_") || PASSED_ON.test(name));
  return { ...Object.fromEntries(passed), ...SAFE_ENVIRONMENT, ...config };
}

/** Settings that disable every configured filter. */
async function withoutFilters(cwd: string): Promise<Record<string, string>> {
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

/**
 * Runs a git command and returns its output. Throws {@link GitCommandError} if it fails or hangs, and `SPECIAL_FILE` if it waits for a
 * FIFO in place of a file.
 */
export function git(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  return unlessBlocked(cwd, (signal) => run(cwd, args, options, signal));
}

/** Runs a git command that compares files, with every configured filter disabled, so that it starts no program. Throws as `git` does. */
export async function gitComparing(cwd: string, args: readonly string[]): Promise<Buffer> {
  return git(cwd, args, { settings: await withoutFilters(cwd) });
}

interface GitOptions {
  /** Added to the safe ones. */
  settings?: Readonly<Record<string, string>>;
  /** For its standard input; nothing without it. */
  input?: string;
  /** Exit codes that are no failure. */
  codes?: readonly number[];
}

/** The git to start. Throws `CliError` if it is known that there is none. */
export function gitProgram(): string {
  const program = programFile("git");
  if (program === undefined) throw noGit();
  return program;
}

const noGit = (): CliError => new CliError(EXIT.usage, "NO_GIT", "git is not installed or not in PATH");

function run(
  cwd: string,
  args: readonly string[],
  { settings, input = "", codes = [0] }: GitOptions,
  signal: AbortSignal,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const env = gitEnvironment(settings);
    const child = spawn(gitProgram(), args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    // Git may end before it has read everything.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    const output: Buffer[] = [];
    let stderr = "";
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      stderr = `no answer within ${IDLE_TIMEOUT_MS / 1_000} s`;
      child.kill("SIGKILL");
    }, IDLE_TIMEOUT_MS);
    signal.addEventListener("abort", () => child.kill("SIGKILL"));
    child.stdout.on("data", (part: Buffer) => {
      timer.refresh();
      output.push(part);
    });
    child.stderr.on("data", (part: Buffer) => {
      if (stderr.length < MAX_STDERR_BYTES) stderr += part.toString();
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error.code === "ENOENT" ? noGit() : error);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      if (code !== null && codes.includes(code)) resolve(Buffer.concat(output));
      else if (signal.aborted) reject(signal.reason as Error);
      else reject(new GitCommandError(args[0] ?? "", stderr.trim(), hung));
    });
  });
}

/** Runs a git command and returns one line of output; undefined if it fails. */
export async function gitLine(cwd: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return (await git(cwd, args)).toString().trim() || undefined;
  } catch (error) {
    if (error instanceof GitCommandError) return undefined;
    throw error;
  }
}

/** Runs a git command and returns its NUL-separated output, as `split` reads it; empty if it fails. */
export async function gitList(cwd: string, args: readonly string[], split = splitNul): Promise<string[]> {
  try {
    return split(await git(cwd, args));
  } catch (error) {
    if (error instanceof GitCommandError) return [];
    throw error;
  }
}

export function splitNul(output: Buffer, encoding: BufferEncoding = "utf8"): string[] {
  const parts = output.toString(encoding).split("\0");
  parts.pop();
  return parts;
}
