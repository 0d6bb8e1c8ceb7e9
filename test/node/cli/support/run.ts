import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CODECTX_ENTRY } from "../../../support/codectx-entry.ts";
import { Commands } from "../../../support/commands.ts";
import { WITHOUT_MAINTENANCE } from "../../../support/git-env.ts";
import { FakeService } from "./service.ts";

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The document of a `--json` run. */
  json: Record<string, unknown>;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  input?: string;
  /** Every write to a file fails, as on a full disk; also for root. POSIX only. */
  fullDisk?: boolean;
  /** User and group id of the process; needs root. */
  user?: number | undefined;
  /** The program; by default this checkout's, bundled. */
  entry?: string;
  /** Called with the process once it runs. */
  onStart?: (child: ChildProcess) => void;
}

export interface AskOptions {
  env?: Record<string, string | undefined>;
  /** By how much the clock of the command is ahead. */
  aheadMs?: number;
}

/** Of the test files of this process, one after another; it ends with the process. */
const commands = new Commands();

/** A folder of its own with configuration, cache and repositories, in which `codectx` runs. */
export class Sandbox {
  readonly root = mkdtempSync(join(tmpdir(), "codectx-test-"));
  readonly service = new FakeService();

  static async create(): Promise<Sandbox> {
    const sandbox = new Sandbox();
    await sandbox.service.start();
    return sandbox;
  }

  /** A sandbox with the files of this one, and a service of its own that holds the same snapshots. */
  async copy(): Promise<Sandbox> {
    const copy = await Sandbox.create();
    cpSync(this.root, copy.root, { recursive: true, preserveTimestamps: true });
    copy.service.takeOver(this.service);
    return copy;
  }

  remove(): void {
    this.service.stop();
    rmSync(this.root, { recursive: true, force: true });
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  write(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), content);
  }

  git(cwd: string, ...args: string[]): string {
    const settings = [
      ...WITHOUT_MAINTENANCE,
      "-c",
      "user.name=t",
      "-c",
      "user.email=t@example.com",
      "-c",
      "commit.gpgsign=false",
      "-c",
      "init.defaultBranch=main",
      "-c",
      "init.templateDir=",
    ];
    return execFileSync("git", [...settings, ...args], {
      cwd: this.path(cwd),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  }

  /** A repository with these files in one commit and a remote that identifies it. */
  repository(
    name: string,
    files: Record<string, string | Uint8Array>,
    remote = `https://github.com/acme/${name}.git`,
  ): void {
    mkdirSync(this.path(name), { recursive: true });
    for (const [path, content] of Object.entries(files)) this.write(`${name}/${path}`, content);
    this.git(name, "init", "-q");
    this.git(name, "remote", "add", "origin", remote);
    this.commit(name);
  }

  commit(name: string, message = "change"): string {
    this.git(name, "add", "-A");
    this.git(name, "commit", "-q", "--allow-empty", "-m", message);
    return this.git(name, "rev-parse", "HEAD");
  }

  clone(from: string, to: string): void {
    this.git(".", "clone", "-q", this.path(from), this.path(to));
    this.git(to, "remote", "set-url", "origin", this.git(from, "remote", "get-url", "origin"));
  }

  environment(overrides: Record<string, string | undefined> = {}): Record<string, string> {
    const env: Record<string, string | undefined> = {
      PATH: process.env["PATH"],
      HOME: this.path("home"),
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      XDG_CONFIG_HOME: this.path("config"),
      XDG_CACHE_HOME: this.path("cache"),
      CODECTX_API_URL: this.service.url,
      CODECTX_API_KEY: this.service.key,
      ...overrides,
    };
    return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  /**
   * What `codectx` answers in a folder of the sandbox, by the process of commands. For tests that run many commands and are not about the
   * process itself: its start, its end, its outputs, or two at once.
   */
  async ask(cwd: string, args: readonly string[], options: AskOptions = {}): Promise<Ran> {
    const { exit, stdout, stderr } = await commands.run({
      args,
      cwd: this.path(cwd),
      env: this.environment(options.env),
      aheadMs: options.aheadMs,
    });
    return { code: exit, stdout, stderr, json: jsonOf(args, stdout) };
  }

  /** Runs `codectx` in a folder of the sandbox, as a process of its own, as for a user. */
  run(cwd: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    mkdirSync(this.path(cwd), { recursive: true });
    const command = [process.execPath, options.entry ?? CODECTX_ENTRY, ...args];
    const [program = "", ...rest] = options.fullDisk
      ? ["sh", "-c", 'ulimit -f 0; exec "$0" "$@"', ...command]
      : command;
    const child = spawn(program, rest, {
      cwd: this.path(cwd),
      env: this.environment(options.env),
      ...(options.user !== undefined && { uid: options.user, gid: options.user }),
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (part: Buffer) => (stdout += part.toString()));
    child.stderr.on("data", (part: Buffer) => (stderr += part.toString()));
    child.stdin.end(options.input ?? "");
    options.onStart?.(child);
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => {
        resolve({ code, stdout, stderr, json: jsonOf(args, stdout) });
      });
    });
  }
}

function jsonOf(args: readonly string[], stdout: string): Record<string, unknown> {
  return args.includes("--json") && stdout.startsWith("{") ? (JSON.parse(stdout) as Record<string, unknown>) : {};
}

/** `count` files of code that differ, each some chunks long. */
export function sampleFiles(count: number): Record<string, string> {
  const files: Record<string, string> = {};
  for (let i = 0; i < count; i++) {
    files[`src/module${i}.ts`] =
      `/** Doubles ${i}. */\nexport function double${i}(value: number): number {\n  return value * 2 + ${i};\n}\n\nexport class Holder${i} {\n  get(): number {\n    return double${i}(${i});\n  }\n}\n`;
  }
  return files;
}
