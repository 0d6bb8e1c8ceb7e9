import { Command, CommanderError } from "commander";
import { LOCAL_COMMANDS } from "./local.ts";
import { type AddCommand, examples, type Run } from "./options.ts";
import { SERVICE_COMMANDS } from "./service.ts";
import type { Context, GlobalOptions } from "../context.ts";
import { EXIT_CODE_HELP } from "./exit-code-help.ts";
import { VERSION } from "../version.ts";
import type { McpOptions } from "../commands/mcp.ts";

type MakeContext = (global: GlobalOptions) => Context;

/** Builds the command line. Each command's code is loaded when it runs, for a fast start. */
export function buildProgram(makeContext: MakeContext, args: readonly string[]): Command {
  const program = new Command("codectx")
    .description(
      "Search the code of a repository: on this machine without an account, or with the Code Context service.",
    )
    .version(VERSION, "-V, --version", "print the version")
    .option("--json", "print one JSON document on stdout, also for errors")
    .option("-q, --quiet", "print no progress and no warnings")
    .option("--no-color", "no colours (as NO_COLOR)")
    .option("--api-url <url>", "address of the service (as CODECTX_API_URL)")
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .addHelpText(
      "after",
      () =>
        `${examples('codectx search "how are sessions closed"', "codectx symbol Router", "codectx setup claude-code", "codectx login && codectx pull")}\n\n${EXIT_CODE_HELP}`,
    );

  const run: Run =
    <A extends unknown[]>(action: (context: Context, ...args: A) => void | Promise<void>) =>
    async (...args: [...A, Command]): Promise<void> => {
      const command = args.at(-1) as Command;
      await action(makeContext(command.optsWithGlobals()), ...(args.slice(0, -1) as A));
    };

  // Define only the given command; suggestions, help and completions need all of them.
  const [name = ""] = args;
  const isAlone = Object.hasOwn(COMMANDS, name) && name !== "completion";
  for (const add of Object.values(isAlone ? { [name]: COMMANDS[name] } : COMMANDS)) add?.(program, run);
  for (const command of allCommands(program)) command.exitOverride();
  return program;
}

/** The program with all commands and subcommands. */
export function allCommands(program: Command): Command[] {
  return [program, ...program.commands.flatMap(allCommands)];
}

const COMMANDS: Readonly<Record<string, AddCommand>> = {
  ...LOCAL_COMMANDS,
  ...SERVICE_COMMANDS,

  mcp: (program, run) =>
    program
      .command("mcp")
      .description("serve the index of this work tree to coding agents (MCP over stdio); no account, no network")
      .option("--repos <trees...>", "also serve these work trees: folders, or repositories that `cache list` names")
      .option("--all", "also serve every work tree that has a local index")
      .option("--remote", "serve the hosted indexes instead, with the key of `codectx login` or CODECTX_API_KEY")
      .option(
        "--edits",
        "with --remote: ask about the work tree as it is; what differs from the indexed commit is sent",
      )
      .addHelpText(
        "after",
        examples(
          "codectx setup claude-code",
          "claude mcp add codectx -- codectx mcp",
          "codectx mcp --repos ../api ../web",
          "codectx mcp --remote --edits",
        ),
      )
      .action(run(async (context, options: McpOptions) => (await import("../commands/mcp.ts")).mcp(context, options))),

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
          (await import("../commands/completion.ts")).completion(context, program, shell),
        ),
      ),

  // Called by completion scripts for symbol names.
  "complete-symbols": (program, run) =>
    program
      .command("complete-symbols", { hidden: true })
      .argument("[prefix]")
      .action(
        run(async (context, prefix: string | undefined) =>
          (await import("../commands/completion.ts")).completeSymbols(context, prefix ?? ""),
        ),
      ),

  // The same for branches and tags.
  "complete-refs": (program, run) =>
    program
      .command("complete-refs", { hidden: true })
      .argument("[prefix]")
      .action(
        run(async (context, prefix: string | undefined) =>
          (await import("../commands/completion.ts")).completeRefs(context, prefix ?? ""),
        ),
      ),
};

/** `help` of a command that does not exist is answered as the command is, with the one that was probably meant. */
export function unknownHelpAsCommand(args: readonly string[]): readonly string[] {
  const [first, name = ""] = args;
  const isKnown = name === "" || name.startsWith("-") || name === "help" || Object.hasOwn(COMMANDS, name);
  return first !== "help" || isKnown ? args : [name];
}

/** Whether commander stopped for help or the version, which are not failures. */
export function isHelp(error: unknown): boolean {
  return error instanceof CommanderError && error.exitCode === 0;
}
