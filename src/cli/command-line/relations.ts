import { Option } from "commander";
import { CALL_PATH, CERTAINTIES, DEFINITION, IMPACT, REFERENCES, type RELATIONS } from "../../contract/questions.ts";
import type { ImpactOptions } from "../commands/impact.ts";
import type { RelationOptions } from "../commands/relations.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import { type AddCommand, examples, questionOptions } from "./options.ts";

/** A command that asks for a relation of a definition. */
function relationCommand(
  relation: Exclude<(typeof RELATIONS)[number], "importers">,
  description: string,
  shown: readonly string[],
): AddCommand {
  return (program, run) =>
    questionOptions(
      program
        .command(relation)
        .argument(
          "<name>",
          relation === "callees"
            ? "name or qualified name"
            : "name or qualified name, also one of a package: useState, json.dumps",
        )
        .description(description),
      REFERENCES,
    )
      .option("--at <path[:line]>", "the definition in this file, at this line, where several share the name")
      .addOption(new Option("--certainty <value>", "the least certain uses to list").choices(CERTAINTIES))
      .addOption(new Option("--depth <n>", "steps to follow; 1 is direct uses only").choices(["1", "2", "3", "4", "5"]))
      .addHelpText("after", examples(...shown))
      .action(
        run(async (context, name: string, options: RelationOptions) =>
          (await import("../commands/relations.ts")).relations(context, relation, name, options),
        ),
      );
}

/** Commands that follow names from use to definition and back. */
export const RELATION_COMMANDS: Readonly<Record<string, AddCommand>> = {
  definition: (program, run) =>
    questionOptions(
      program
        .command("definition")
        .argument("<place>", "file, line and column of a name: src/app.ts:10:4; without a column all names of the line")
        .description("find what a name in a file means"),
      DEFINITION,
    )
      .addHelpText("after", examples("codectx definition src/app.ts:10:4", "codectx definition src/app.ts:10 --json"))
      .action(
        run(async (context, place: string, options: RemoteOption) =>
          (await import("../commands/definition.ts")).definitionCommand(context, place, options),
        ),
      ),

  callers: relationCommand("callers", "list what calls a function, class or method, surest first", [
    "codectx callers parseConfig",
    "codectx callers Store.get --at src/store.ts:40",
  ]),
  callees: relationCommand("callees", "list what a function, class or method calls, surest first", [
    "codectx callees parseConfig",
    "codectx callees main --at src/main.ts",
  ]),
  implementations: relationCommand("implementations", "list what implements an interface, a class or a method", [
    "codectx implementations Store",
    "codectx implementations Handler --json",
  ]),

  importers: (program, run) =>
    questionOptions(
      program
        .command("importers")
        .argument("<path>", "file, or name of a package")
        .description("list the files that import a file or a package"),
      REFERENCES,
    )
      .addHelpText("after", examples("codectx importers src/store.ts", "codectx importers express --json"))
      .action(
        run(async (context, path: string, options: RelationOptions) =>
          (await import("../commands/relations.ts")).relations(context, "importers", path, options),
        ),
      ),

  path: (program, run) =>
    questionOptions(
      program
        .command("path")
        .argument("<from>", "name of the definition where the calls begin")
        .argument("<to>", "name of the definition that they are to reach")
        .description("show how one definition reaches another through calls"),
      CALL_PATH,
    )
      .addHelpText("after", examples("codectx path main closeSession", "codectx path Router.handle parse --json"))
      .action(
        run(async (context, from: string, to: string, options: { limit: number } & RemoteOption) =>
          (await import("../commands/path.ts")).pathCommand(context, from, to, options),
        ),
      ),

  impact: (program, run) =>
    questionOptions(
      program
        .command("impact")
        .argument("[range]", "commits, such as HEAD~3..HEAD or main...HEAD; without it the uncommitted edits")
        .description("show what a change may break or need besides, with reasons"),
      IMPACT,
    )
      .addHelpText(
        "after",
        examples(
          "codectx impact",
          "codectx impact main...HEAD --json",
          "codectx impact --name SessionStore.close",
          "codectx impact --path src/store.ts",
        ),
      )
      .action(
        run(async (context, range: string | undefined, options: ImpactOptions) =>
          (await import("../commands/impact.ts")).impactCommand(context, range, options),
        ),
      ),
};
