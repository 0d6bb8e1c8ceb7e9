import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { HostedOptions } from "./commands/index-hosted.ts";
import type { PublishOptions } from "./commands/publish.ts";
import type { PullOptions } from "./commands/pull.ts";
import type { SymbolOptions } from "./commands/symbol.ts";
import type { Context, GlobalOptions } from "./context.ts";
import { EXIT_CODE_HELP } from "./exit-code-help.ts";
import { VERSION } from "./version.ts";

export type MakeContext = (global: GlobalOptions) => Context;

function wholeNumber(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new InvalidArgumentError("must be a whole number from 1 to 999999.");
  return Number(value);
}

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

const examples = (...lines: string[]): string => `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;

type Run = <A extends unknown[]>(
  action: (context: Context, ...args: A) => void | Promise<void>,
) => (...args: [...A, Command]) => Promise<void>;

/** The command line. Each command's code is loaded when it runs, so that a look-up starts in no time. */
export function buildProgram(makeContext: MakeContext, args: readonly string[]): Command {
  const program = new Command("codectx")
    .description("The context of a codebase: local index, shared snapshots, hosted indexing.")
    .version(VERSION, "-V, --version", "print the version")
    .option("--json", "print one JSON document on stdout, errors too")
    .option("-q, --quiet", "no progress and no remarks")
    .option("--no-color", "no colours (as NO_COLOR)")
    .option("--api-url <url>", "address of the service (as CODECTX_API_URL)")
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .addHelpText(
      "after",
      () =>
        `${examples("codectx login", "codectx pull && codectx symbol Router", "codectx index --local", "codectx publish")}\n\n${EXIT_CODE_HELP}`,
    );

  const run =
    <A extends unknown[]>(action: (context: Context, ...args: A) => void | Promise<void>) =>
    async (...args: [...A, Command]): Promise<void> => {
      const command = args.at(-1) as Command;
      await action(makeContext(command.optsWithGlobals()), ...(args.slice(0, -1) as A));
    };

  // A command that is named at once needs no other beside it; suggestions, help and completions do.
  const [name = ""] = args;
  const isAlone = Object.hasOwn(COMMANDS, name) && name !== "completion";
  for (const add of Object.values(isAlone ? { [name]: COMMANDS[name] } : COMMANDS)) add?.(program, run);
  for (const command of [program, ...program.commands]) command.exitOverride();
  return program;
}

interface IndexCliOptions {
  local?: boolean;
  embed: boolean;
}

type AddCommand = (program: Command, run: Run) => void;

const COMMANDS: Readonly<Record<string, AddCommand>> = {
  login: (program, run) =>
    program
      .command("login")
      .description("check an API key and store it for this user (mode 0600)")
      .option("--key <key>", "the key; `-` reads it from stdin (a key on the command line is visible to other users)")
      .option("--worker-token <token>", "store a worker token for hosted indexing too")
      .addHelpText(
        "after",
        examples("codectx login", "printenv KEY | codectx login --key - --api-url https://api.example.com"),
      )
      .action(
        run(async (context, options: { key?: string; workerToken?: string }) =>
          (await import("./commands/login.ts")).login(context, options),
        ),
      ),

  logout: (program, run) =>
    program
      .command("logout")
      .description("forget the stored credentials of the service")
      .option("--all", "of every service")
      .addHelpText("after", examples("codectx logout"))
      .action(
        run(async (context, options: { all?: boolean }) =>
          (await import("./commands/login.ts")).logout(context, options),
        ),
      ),

  status: (program, run) =>
    program
      .command("status")
      .description("show the service, the key, the local index and the published snapshot")
      .addHelpText("after", examples("codectx status", "codectx status --json"))
      .action(run(async (context) => (await import("./commands/status.ts")).status(context))),

  usage: (program, run) =>
    program
      .command("usage")
      .description("show the credits and calls of this month")
      .addHelpText("after", examples("codectx usage", "codectx usage --json | jq .credits.remaining"))
      .action(run(async (context) => (await import("./commands/account.ts")).usage(context))),

  repos: (program, run) =>
    program
      .command("repos")
      .description("list the workspaces and their snapshots")
      .addHelpText("after", examples("codectx repos"))
      .action(run(async (context) => (await import("./commands/account.ts")).repos(context))),

  index: (program, run) =>
    program
      .command("index")
      .description("index the repository: hosted by the service, or --local in this work tree")
      .option("--local", "index this work tree on this machine, uncommitted changes included")
      .option("--no-embed", "with --local: symbols and chunks only, nothing is sent or paid for")
      .option("--workspace <id>", "workspace of the hosted run (as CODECTX_WORKSPACE)")
      .option("--worker-token <token>", "credential of the hosted run (as CODECTX_WORKER_TOKEN)")
      .option("--url <url>", "HTTPS clone URL (default: the remote); CODECTX_GIT_TOKEN for a private one")
      .option("--ref <ref>", "branch, tag or commit (default: the remote's HEAD)")
      .option("--include <glob>", "only these files; repeatable", collect)
      .option("--exclude <glob>", "not these files; repeatable", collect)
      .option("--repo <repo>", "repository identity, to find the workspace by (default: from the remote)")
      .option("--detach", "start the hosted run and return")
      .addHelpText(
        "after",
        examples(
          "codectx index --local",
          "codectx index --local --no-embed",
          "codectx index --ref main --exclude 'docs/**'",
        ),
      )
      .action(
        run(async (context, options: IndexCliOptions & HostedOptions) => {
          if (options.local) return (await import("./commands/index-local.ts")).indexLocal(context, options);
          return (await import("./commands/index-hosted.ts")).indexHosted(context, options);
        }),
      ),

  publish: (program, run) =>
    program
      .command("publish")
      .description("publish the index of a commit for others to pull")
      .option("--commit <commit>", "commit to publish (default: HEAD)")
      .option("--repo <repo>", "repository identity (default: from the remote)")
      .option("--force", "publish again what is published already")
      .addHelpText("after", examples("codectx publish", "codectx publish --commit v1.2.0"))
      .action(
        run(async (context, options: PublishOptions) =>
          (await import("./commands/publish.ts")).publish(context, options),
        ),
      ),

  pull: (program, run) =>
    program
      .command("pull")
      .description("take over the published snapshot, then index only what differs here")
      .option("--repo <repo>", "repository identity (default: from the remote)")
      .option("--no-embed", "do not embed what differs here")
      .option("--force", "download again what is here already")
      .addHelpText("after", examples("codectx pull", "codectx pull --no-embed"))
      .action(
        run(async (context, options: PullOptions) => (await import("./commands/pull.ts")).pull(context, options)),
      ),

  ci: (program, run) =>
    program
      .command("ci")
      .description("publish from a pipeline: reuse the current snapshot, never replace a newer one")
      .option("--repo <repo>", "repository identity (default: from the remote)")
      .addHelpText("after", examples("CODECTX_API_KEY=… codectx ci", "codectx ci --json"))
      .action(
        run(async (context, options: { repo?: string }) => (await import("./commands/ci.ts")).ci(context, options)),
      ),

  outline: (program, run) =>
    program
      .command("outline")
      .argument("<file>", "file of this work tree")
      .description("show the symbols of a file")
      .addHelpText("after", examples("codectx outline src/app.ts", "codectx outline --json src/app.ts"))
      .action(run(async (context, file: string) => (await import("./commands/outline.ts")).outline(context, file))),

  symbol: (program, run) =>
    program
      .command("symbol")
      .argument("<name>", "name, qualified name, or the beginning of one")
      .description("find where a symbol is defined")
      .option("--kind <kind>", "only this kind: function, method, class, …")
      .addOption(new Option("--limit <n>", "at most so many").argParser(wholeNumber).default(50))
      .addHelpText(
        "after",
        examples("codectx symbol Router", "codectx symbol Router.use --json", "codectx symbol parse --kind function"),
      )
      .action(
        run(async (context, name: string, options: SymbolOptions) =>
          (await import("./commands/symbol.ts")).symbol(context, name, options),
        ),
      ),

  mcp: (program, run) =>
    program
      .command("mcp")
      .description("serve the index of this work tree to coding agents (MCP over stdio); no account, no network")
      .addHelpText("after", examples("claude mcp add code-context -- codectx mcp"))
      .action(run(async (context) => (await import("./commands/mcp.ts")).mcp(context))),

  completion: (program, run) =>
    program
      .command("completion")
      .argument("<shell>", "bash, zsh or fish")
      .description("print a completion script for a shell")
      .addHelpText(
        "after",
        examples(
          "source <(codectx completion bash)",
          "codectx completion zsh > ~/.zfunc/_codectx",
          "codectx completion fish > ~/.config/fish/completions/codectx.fish",
        ),
      )
      .action(
        run(async (context, shell: string) =>
          (await import("./commands/completion.ts")).completion(context, program, shell),
        ),
      ),
};

/** Whether commander stopped for help or the version, which are no failures. */
export function isHelp(error: unknown): boolean {
  return error instanceof CommanderError && error.exitCode === 0;
}
