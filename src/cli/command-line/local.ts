import { Option } from "commander";
import { COVERAGE, FILE, FILES, GREP, OUTLINE, REFERENCES, SEARCH, SYMBOLS } from "../../contract/questions.ts";
import { CLIENT_NAMES } from "../commands/setup-clients.ts";
import type { CleanOptions } from "../commands/cache.ts";
import type { GrepFlags } from "../commands/grep.ts";
import type { SearchOptions } from "../commands/search.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import type { SetupOptions } from "../commands/setup.ts";
import type { SymbolOptions } from "../commands/symbol.ts";
import { type AddCommand, examples, questionOptions, wholeNumber } from "./options.ts";
import { RELATION_COMMANDS } from "./relations.ts";

/** Commands that need no account and no network. */
export const LOCAL_COMMANDS: Readonly<Record<string, AddCommand>> = {
  search: (program, run) =>
    questionOptions(
      program
        .command("search")
        .argument("<query...>", "words, identifiers, a whole issue text; `-` reads it from stdin")
        .description("search the code of this work tree, uncommitted changes included"),
      SEARCH,
    )
      .addHelpText(
        "after",
        examples(
          'codectx search "how are sessions closed"',
          "codectx search parseConfig --path 'src/**' --json",
          "gh issue view 42 --json body --jq .body | codectx search -",
        ),
      )
      .action(
        run(async (context, words: string[], options: SearchOptions) =>
          (await import("../commands/search.ts")).searchCommand(context, words, options),
        ),
      ),

  symbol: (program, run) =>
    questionOptions(
      program
        .command("symbol")
        .argument("<name>", "name, qualified name (`User.save`, `Sinatra::Base`), or the beginning of a name")
        .description("find where a symbol is defined"),
      SYMBOLS,
    )
      .addHelpText(
        "after",
        examples("codectx symbol Router", "codectx symbol Router.use --json", "codectx symbol parse --kind function"),
      )
      .action(
        run(async (context, name: string, options: SymbolOptions) =>
          (await import("../commands/symbol.ts")).symbol(context, name, options),
        ),
      ),

  refs: (program, run) =>
    questionOptions(
      program.command("refs").argument("<name>", "identifier").description("find where a name is used"),
      REFERENCES,
    )
      .addHelpText("after", examples("codectx refs parseConfig", "codectx refs Router --json"))
      .action(
        run(async (context, name: string, options: { limit: number } & RemoteOption) =>
          (await import("../commands/refs.ts")).refs(context, name, options),
        ),
      ),

  ...RELATION_COMMANDS,

  grep: (program, run) =>
    questionOptions(
      program
        .command("grep")
        .argument("<pattern>", "regular expression in the dialect of ripgrep")
        .argument("[paths...]", "files and folders to search; all without one")
        .description("print every line that matches, uncommitted changes included, and say what was not searched"),
      GREP,
    )
      .option("-o, --only-matching", "print only what matches, one match a line")
      // By habit: line numbers are always shown.
      .addOption(new Option("-n, --line-number").hideHelp())
      .addHelpText(
        "after",
        `${examples("codectx grep -w parseConfig", "codectx grep -i todo src test/e2e", "codectx grep -F 'a[0] + 1' --path 'src/**'", "codectx grep -i 'todo|fixme' --ref v2.0 -c")}\n\nExit codes: 0 found, 1 nothing matches and all text was searched, 2 everything else.`,
      )
      .action(
        run(async (context, pattern: string, paths: string[], options: GrepFlags) =>
          (await import("../commands/grep.ts")).grepCommand(context, pattern, paths, options),
        ),
      ),

  coverage: (program, run) =>
    questionOptions(
      program
        .command("coverage")
        .argument("[path]", "file or folder of this work tree")
        .description("show what is indexed and searched, and why the rest is not"),
      COVERAGE,
    )
      .addHelpText(
        "after",
        examples("codectx coverage", "codectx coverage vendor", "codectx coverage --reason too_large"),
      )
      .action(
        run(async (context, path: string | undefined, options: RemoteOption) =>
          (await import("../commands/coverage.ts")).coverageCommand(context, path, options),
        ),
      ),

  files: (program, run) =>
    questionOptions(
      program
        .command("files")
        .argument("[path]", "folder, or a glob such as 'src/**/*.ts'")
        .description("list the files of this work tree, with their state in the index"),
      FILES,
    )
      .addHelpText("after", examples("codectx files --depth 1", "codectx files 'src/**/*.ts' --json"))
      .action(
        run(async (context, path: string | undefined, options: RemoteOption) =>
          (await import("../commands/files.ts")).filesCommand(context, path, options),
        ),
      ),

  outline: (program, run) =>
    questionOptions(
      program.command("outline").argument("<file>", "file of this work tree").description("show the symbols of a file"),
      OUTLINE,
    )
      .addHelpText("after", examples("codectx outline src/app.ts", "codectx outline --json src/app.ts"))
      .action(
        run(async (context, file: string, options: RemoteOption) =>
          (await import("../commands/outline.ts")).outlineCommand(context, file, options),
        ),
      ),

  read: (program, run) =>
    questionOptions(
      program
        .command("read")
        .argument("<place>", "file, or file and lines: src/app.ts:10-40")
        .description("print lines of an indexed file, except those that may hold a secret"),
      FILE,
    )
      .addHelpText("after", examples("codectx read src/app.ts:10-40", "codectx read src/app.ts --json"))
      .action(
        run(async (context, place: string, options: RemoteOption) =>
          (await import("../commands/read.ts")).read(context, place, options),
        ),
      ),

  cache: (program, run) => {
    const cache = program
      .command("cache")
      .description("list and delete local indexes")
      .addHelpText("after", examples("codectx cache list", "codectx cache clean"));
    cache
      .command("list")
      .description("local indexes, their size and when they were last used")
      .action(run(async (context) => (await import("../commands/cache.ts")).cacheList(context)));
    cache
      .command("clean")
      .argument("[repository...]", "as `cache list` names them")
      .description("delete indexes; without a name, those of missing work trees")
      .option("--all", "delete every index")
      .addOption(new Option("--older-than <days>", "delete what was not used for so long").argParser(wholeNumber))
      .action(
        run(async (context, names: string[], options: CleanOptions) =>
          (await import("../commands/cache.ts")).cacheClean(context, names, options),
        ),
      );
  },

  config: (program, run) =>
    program
      .command("config")
      .argument("[name]", "api-url, or repo: the identity of this repository")
      .argument("[value]", "new value")
      .description("show or change the configuration")
      .option("--unset", "remove the setting")
      .addHelpText("after", examples("codectx config", "codectx config repo github.com/upstream/project"))
      .action(
        run(async (context, name: string | undefined, value: string | undefined, options: { unset?: boolean }) =>
          (await import("../commands/config.ts")).config(context, name, value, options),
        ),
      ),

  setup: (program, run) =>
    program
      .command("setup")
      .argument("<client>", CLIENT_NAMES.join(", "))
      .description("add codectx to the MCP configuration of a coding agent")
      .option("--user", "for all of your projects, not only this one")
      .option("--remote", "ask the service instead of the work tree; the client takes the key from CODECTX_API_KEY")
      .option("--oauth <address>", "ask a service that the client signs in to, such as https://app.example.com/mcp")
      .option("--undo", "take back what setup wrote")
      .option("-y, --yes", "write without asking")
      .addHelpText(
        "after",
        examples("codectx setup claude-code", "codectx setup codex --yes", "codectx setup cursor --user --undo"),
      )
      .action(
        run(async (context, client: string, options: SetupOptions) =>
          (await import("../commands/setup.ts")).setup(context, client, options),
        ),
      ),

  doctor: (program, run) =>
    program
      .command("doctor")
      .description("check what codectx needs and suggest how to fix problems")
      .addHelpText("after", examples("codectx doctor"))
      .action(run(async (context) => (await import("../commands/doctor.ts")).doctor(context))),
};
