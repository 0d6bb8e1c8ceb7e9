import { type Command, InvalidArgumentError, Option } from "commander";
import type { HostedOptions } from "../commands/index-hosted.ts";
import type { PublishOptions } from "../commands/publish.ts";
import type { PullOptions } from "../commands/pull.ts";
import type { RunListOptions } from "../commands/runs.ts";
import type { SnapshotOptions } from "../commands/snapshot.ts";
import type { TokenOptions } from "../commands/token.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { type AddCommand, collect, examples, wholeNumber } from "./options.ts";

/** Those of API keys, as in `src/contract/credentials.ts`, which would load zod. */
const TOKEN_SCOPES = ["search", "embed", "rerank", "snapshot"] as const;

function collectScope(value: string, previous: string[] | undefined): string[] {
  if (TOKEN_SCOPES.some((scope) => scope === value)) return collect(value, previous);
  throw new InvalidArgumentError(`must be one of ${TOKEN_SCOPES.join(", ")}.`);
}

const UNIT_SEC: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Seconds of a time such as `8h`. */
function lifetime(value: string): number {
  const [, count = "", unit = ""] = /^(\d{1,7})([smhd])$/.exec(value) ?? [];
  const seconds = Number(count) * (UNIT_SEC[unit] ?? 0);
  if (seconds >= 60 && seconds <= 30 * 86_400) return seconds;
  throw new InvalidArgumentError("must be a time from 60s to 30d, such as 90s, 30m, 8h or 7d.");
}

interface IndexCliOptions {
  local?: boolean;
  embed: boolean;
}

/** Rejects options of hosted runs in a local one, instead of ignoring them. */
function rejectHostedOptions({
  workspace,
  workerToken,
  url,
  ref,
  include,
  exclude,
  repo,
  detach,
}: HostedOptions): void {
  const given = Object.entries({ workspace, "worker-token": workerToken, url, ref, include, exclude, repo, detach })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `--${name}`);
  if (given.length === 0) return;
  throw new CliError(
    EXIT.usage,
    "USAGE",
    `${given.join(", ")}: only for hosted runs; --local indexes this work tree as it is (.codectxignore leaves files out)`,
  );
}

/** Commands that talk to the service. */
export const SERVICE_COMMANDS: Readonly<Record<string, AddCommand>> = {
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
          (await import("../commands/login.ts")).login(context, options),
        ),
      ),

  logout: (program, run) =>
    program
      .command("logout")
      .description("delete the stored credentials of the service")
      .option("--all", "of every service")
      .addHelpText("after", examples("codectx logout"))
      .action(
        run(async (context, options: { all?: boolean }) =>
          (await import("../commands/login.ts")).logout(context, options),
        ),
      ),

  status: (program, run) =>
    program
      .command("status")
      .description("show the service, the key, the local index and the published snapshot")
      .addHelpText("after", examples("codectx status", "codectx status --json"))
      .action(run(async (context) => (await import("../commands/status.ts")).status(context))),

  token: (program, run) => {
    const token = program
      .command("token")
      .description("make and revoke narrower, shorter API keys, for sub-agents and CI");
    token
      .command("create")
      .description("make a token from the API key in use; its value is printed once")
      .requiredOption("--ttl <time>", "how long it lives: 90s, 30m, 8h or 7d, up to 30d", lifetime)
      .option("--repo <repo>", "limit it to this repository; repeatable", collect)
      .addOption(
        new Option("--scope <scope>", "limit it to this use; repeatable").choices(TOKEN_SCOPES).argParser(collectScope),
      )
      .option("--monthly-credits <n>", "credits it may use in a month", wholeNumber)
      .option("--rate <n>", "requests it may send per minute", wholeNumber)
      .option("--name <name>", "shown in the dashboard and the audit log")
      .addHelpText(
        "after",
        examples(
          "codectx token create --ttl 1h --scope search",
          "codectx token create --ttl 8h --repo github.com/owner/name --json",
        ),
      )
      .action(
        run(async (context, options: TokenOptions) =>
          (await import("../commands/token.ts")).tokenCreate(context, options),
        ),
      );
    token
      .command("revoke <id>")
      .description("revoke a token that was made from the API key in use, and those made from it")
      .addHelpText("after", examples("codectx token revoke 4F2cT9x…"))
      .action(run(async (context, id: string) => (await import("../commands/token.ts")).tokenRevoke(context, id)));
  },

  usage: (program, run) =>
    program
      .command("usage")
      .description("show the credits and calls of this month")
      .addHelpText("after", examples("codectx usage", "codectx usage --json | jq .credits.remaining"))
      .action(run(async (context) => (await import("../commands/account.ts")).usage(context))),

  repos: (program, run) =>
    program
      .command("repos")
      .description("list the workspaces and their snapshots")
      .addHelpText("after", examples("codectx repos"))
      .action(run(async (context) => (await import("../commands/account.ts")).repos(context))),

  index: (program, run) =>
    program
      .command("index")
      .description("index the repository: hosted by the service, or --local in this work tree")
      .option("--local", "index this work tree on this machine, uncommitted changes included")
      .option("--no-embed", "with --local: make no vectors, so that nothing is sent or charged")
      .option("--workspace <id>", "workspace of the hosted run (as CODECTX_WORKSPACE)")
      .option("--worker-token <token>", "credential of the hosted run (as CODECTX_WORKER_TOKEN)")
      .option("--url <url>", "HTTPS clone URL (default: the remote); CODECTX_GIT_TOKEN for a private repository")
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
          if (options.local) rejectHostedOptions(options);
          if (options.local) return (await import("../commands/index-local.ts")).indexLocal(context, options);
          return (await import("../commands/index-hosted.ts")).indexHosted(context, options);
        }),
      ),

  runs: (program, run) => {
    const runs = program
      .command("runs")
      .description("list, follow and cancel hosted runs")
      .addHelpText("after", examples("codectx runs list", "codectx runs watch <run>", "codectx runs cancel <run>"));
    const withToken = (command: Command): Command =>
      command.option("--worker-token <token>", "credential of hosted runs (as CODECTX_WORKER_TOKEN)");
    withToken(runs.command("list"))
      .description("the newest runs of a workspace")
      .option("--workspace <id>", "workspace (as CODECTX_WORKSPACE; default: that of the repository)")
      .option("--repo <repo>", "repository identity, to find the workspace by (default: from the remote)")
      .addOption(new Option("--limit <n>", "maximum number of results").argParser(wholeNumber).default(20))
      .action(
        run(async (context, options: RunListOptions) =>
          (await import("../commands/runs.ts")).runsList(context, options),
        ),
      );
    withToken(runs.command("watch"))
      .argument("<run>", "id of the run")
      .description("follow a run to its end")
      .action(
        run(async (context, runId: string, options: { workerToken?: string }) =>
          (await import("../commands/runs.ts")).runsWatch(context, runId, options),
        ),
      );
    withToken(runs.command("cancel"))
      .argument("<run>", "id of the run")
      .description("cancel a run; nothing half-written stays of it")
      .action(
        run(async (context, runId: string, options: { workerToken?: string }) =>
          (await import("../commands/runs.ts")).runsCancel(context, runId, options),
        ),
      );
  },

  publish: (program, run) =>
    program
      .command("publish")
      .description("publish the index of a commit for others to pull")
      .option("--commit <commit>", "commit to publish (default: HEAD)")
      .option("--repo <repo>", "repository identity (default: from the remote)")
      .option("--force", "publish again, or over a newer commit's snapshot")
      .addHelpText("after", examples("codectx publish", "codectx publish --commit v1.2.0"))
      .action(
        run(async (context, options: PublishOptions) =>
          (await import("../commands/publish.ts")).publish(context, options),
        ),
      ),

  snapshot: (program, run) =>
    program
      .command("snapshot")
      .description("let the service build and publish the snapshot of a commit")
      .option("--commit <commit>", "commit that the remote has (default: HEAD)")
      .option("--tenant <id>", "tenant of the worker token (as CODECTX_TENANT)")
      .option("--workspace <id>", "workspace (as CODECTX_WORKSPACE; default: that of the repository)")
      .option("--worker-token <token>", "credential of hosted runs (as CODECTX_WORKER_TOKEN)")
      .option("--url <url>", "HTTPS clone URL (default: the remote); CODECTX_GIT_TOKEN for a private repository")
      .option("--repo <repo>", "repository identity, to find the workspace by (default: from the remote)")
      .option("--detach", "start it and return")
      .addHelpText(
        "after",
        examples("codectx snapshot --tenant TENANT_ID", "codectx snapshot --commit v1.2.0 --detach"),
      )
      .action(
        run(async (context, options: SnapshotOptions) =>
          (await import("../commands/snapshot.ts")).snapshot(context, options),
        ),
      ),

  pull: (program, run) =>
    program
      .command("pull")
      .description("download the published snapshot, then index only what differs here")
      .option("--repo <repo>", "repository identity (default: from the remote)")
      .option("--no-embed", "do not embed what differs here")
      .option("--force", "download it again")
      .addHelpText("after", examples("codectx pull", "codectx pull --no-embed"))
      .action(
        run(async (context, options: PullOptions) => (await import("../commands/pull.ts")).pull(context, options)),
      ),

  ci: (program, run) =>
    program
      .command("ci")
      .description("publish from a pipeline: reuse the current snapshot, never replace a newer one")
      .option("--repo <repo>", "repository identity (default: from the remote)")
      .addHelpText("after", examples("CODECTX_API_KEY=… codectx ci", "codectx ci --json"))
      .action(
        run(async (context, options: { repo?: string }) => (await import("../commands/ci.ts")).ci(context, options)),
      ),
};
