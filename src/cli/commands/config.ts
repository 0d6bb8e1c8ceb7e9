import { normalizeRepo } from "../../lib/repo.ts";
import { configFile, readConfig, writeConfig } from "../machine/config.ts";
import { apiUrlOf, checkApiUrl, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { findProject, type Project } from "../project.ts";
import { table } from "../terminal/ui.ts";

const NAMES = ["api-url", "repo"] as const;
type Name = (typeof NAMES)[number];

/** `codectx config [name [value]]`: shows the configuration, or sets or unsets a part of it. */
export async function config(
  context: Context,
  name: string | undefined,
  value: string | undefined,
  options: { unset?: boolean },
): Promise<void> {
  if (name !== undefined && !NAMES.includes(name as Name)) {
    throw new CliError(EXIT.usage, "UNKNOWN_SETTING", `no setting named ${name}: expected ${NAMES.join(" or ")}`);
  }
  const project = name === "api-url" ? undefined : await findProject(context).catch(() => undefined);
  if (value !== undefined || options.unset) {
    if (name === undefined) throw new CliError(EXIT.usage, "USAGE", "--unset needs the name of a setting");
    set(context, name as Name, options.unset ? undefined : value, project);
  }
  const { apiUrl, services, repos } = readConfig(context.env);
  const settings = {
    "api-url": apiUrl ?? null,
    repo: (project?.commonDir !== undefined && repos?.[project.commonDir]) || null,
  };
  if (name !== undefined) {
    const current = settings[name as Name];
    context.ui.result({ [name]: current }, () => current ?? "not set");
    return;
  }
  const document = {
    configFile: configFile(context.env),
    ...settings,
    services: Object.keys(services),
    repos: repos ?? {},
  };
  context.ui.result(document, () =>
    table([
      ["File", document.configFile],
      ["api-url", settings["api-url"] ?? `not set (${apiUrlOf(context)})`],
      ["repo", settings.repo ?? `not set (${project?.repo ?? "none"}, from the remote)`],
      ["Keys for", document.services.join(", ") || "none"],
    ]),
  );
}

function set(context: Context, name: Name, value: string | undefined, project: Project | undefined): void {
  const current = readConfig(context.env);
  if (name === "api-url") {
    const { apiUrl: _, ...rest } = current;
    writeConfig(context.env, value === undefined ? rest : { ...rest, apiUrl: checkApiUrl(value) });
    return;
  }
  const key = project?.commonDir;
  if (key === undefined) {
    throw new CliError(
      EXIT.usage,
      "NOT_A_REPOSITORY",
      "`config repo` is set for a repository: run it in its work tree",
    );
  }
  const { [key]: _, ...others } = current.repos ?? {};
  if (value === undefined) {
    writeConfig(context.env, { ...current, repos: others });
    return;
  }
  const repo = normalizeRepo(value);
  if (repo === undefined)
    throw new CliError(EXIT.usage, "BAD_REPO", `not a repository: ${value} (expected host/owner/name or a clone URL)`);
  writeConfig(context.env, { ...current, repos: { ...others, [key]: repo } });
}
