import { statSync } from "node:fs";
import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import type { ProbeResponse } from "../../contract/index.ts";
import { createClient, credentialsOf, type Context } from "../context.ts";
import { type CliError, EXIT, toCliError } from "../exit-codes.ts";
import { countApart, countChanges } from "../git/git.ts";
import { listBases } from "../indexing/bases.ts";
import { IndexStore } from "../indexing/store.ts";
import { findProject, type Project } from "../project.ts";
import { knownSnapshot, type KnownSnapshot } from "../indexing/known-snapshot.ts";
import { formatBytes, formatCount, plural, table } from "../terminal/ui.ts";

interface LocalStatus {
  directory: string;
  indexed: boolean;
  head?: string | null;
  indexedAt?: string;
  sizeBytes?: number;
  fileCount?: number;
  symbolCount?: number;
  chunkCount?: number;
  /** Embedding space for which every chunk has its vector. */
  fingerprint?: string | null;
  snapshot?: KnownSnapshot | null;
  /** Size of the pulled artifacts that hold chunks and vectors of the index, in bytes. */
  baseBytes?: number;
}

/** `codectx status`: service, account, local index, published snapshot. Exits with 3 or 6 if the key or the service fails. */
export async function status(context: Context): Promise<void> {
  const project = await findProject(context);
  const credentials = credentialsOf(context);
  const local = localStatus(project);
  const { root, repo, head } = project;
  const git = project.plainFolder ? undefined : { head: head ?? null, changes: await countChanges(root) };
  const client = await createClient(context, credentials);
  const options = { signal: context.stop, maxRetries: 0, timeoutMs: 10_000 };
  const failures: Record<string, CliError> = {};
  const attempt = async <T>(name: string, call: () => Promise<T>): Promise<T | null> => {
    try {
      return await call();
    } catch (error) {
      if (context.stop.aborted) throw error;
      failures[name] = toCliError(error);
      return null;
    }
  };
  const service = await attempt("service", async () => client.health(options));
  const key =
    service && credentials.apiKey !== undefined ? await attempt("key", async () => client.checkEmbed(options)) : null;
  const [usage, snapshot] = await Promise.all([
    key ? attempt("account", async () => client.usage(options)) : null,
    key && repo !== undefined ? attempt("snapshot", async () => client.snapshots.probe({ repo }, options)) : null,
  ]);
  const apart =
    snapshot?.exists && head !== undefined && snapshot.gitSha !== head
      ? await countApart(root, head, snapshot.gitSha)
      : undefined;
  const exitCode = failures["service"] || failures["key"] ? exitFor(failures) : EXIT.ok;
  process.exitCode = exitCode;
  const document = {
    ok: exitCode === EXIT.ok,
    exitCode,
    apiUrl: credentials.apiUrl,
    service: service && { status: service.status, version: service.version },
    loggedIn: key !== null,
    fingerprint: key?.fingerprint ?? null,
    credits: usage?.credits ?? null,
    project: { root, repo: repo ?? null, ...git },
    local,
    snapshot,
    headIsAheadBy: apart?.[0] ?? null,
    headIsBehindBy: apart?.[1] ?? null,
    failures: Object.fromEntries(Object.entries(failures).map(([name, { message }]) => [name, message])),
  };
  const failure = (name: string): string | undefined => failures[name]?.message;
  const noKey = credentials.apiKey === undefined ? "none: run `codectx login`" : "not checked";
  context.ui.result(document, () =>
    table([
      [
        "Service",
        service
          ? `${credentials.apiUrl} (${service.status}, version ${service.version})`
          : `${credentials.apiUrl}: ${failure("service") ?? ""}`,
      ],
      ["Key", key ? "accepted" : (failure("key") ?? noKey)],
      ...(usage
        ? [
            [
              "Account",
              `${formatCount(usage.credits.used)} of ${formatCount(usage.credits.limit)} credits used this month`,
            ],
          ]
        : []),
      ["Project", `${repo ?? "no remote"} in ${root}`],
      ...(git
        ? [
            [
              "Commit",
              `${git.head?.slice(0, 10) ?? "none"}${git.changes > 0 ? `, ${plural(git.changes, "uncommitted change")}` : ""}`,
            ],
          ]
        : []),
      ["Index", describeLocal(local, git?.head, key?.fingerprint)],
      ["Folder", local.directory],
      ["Snapshot", describeSnapshot(snapshot, head, apart) ?? failure("snapshot") ?? "not checked"],
    ]),
  );
}

/** An unreachable service takes precedence over a rejected key. */
function exitFor(failures: Record<string, CliError>): number {
  if (failures["service"]) return EXIT.unavailable;
  return failures["key"]?.exit ?? EXIT.ok;
}

function describeSnapshot(
  snapshot: ProbeResponse | null,
  head: string | undefined,
  apart: [ahead: number, behind: number] | undefined,
): string | undefined {
  if (!snapshot) return undefined;
  if (!snapshot.exists) return "none published";
  const { gitSha, builtAt, sizeBytes, isCurrent } = snapshot;
  const parts = [gitSha.slice(0, 10), `built ${builtAt.slice(0, 16).replace("T", " ")} UTC`, formatBytes(sizeBytes)];
  if (gitSha === head) parts.push("of this commit");
  if (apart?.[0]) parts.push(`${plural(apart[0], "commit")} behind this one`);
  if (apart?.[1]) parts.push(`${plural(apart[1], "commit")} ahead of this one`);
  if (head !== undefined && gitSha !== head && !apart) parts.push("of a commit that is not in this clone");
  if (!isCurrent) parts.push("not current");
  return parts.join(", ");
}

function localStatus(project: Project): LocalStatus {
  const { directory } = project;
  const store = IndexStore.openForReading(directory, PARSER_VERSION);
  if (!store) return { directory, indexed: false };
  try {
    const row = store
      .prepare(
        "select head, totals, embedded_with as fingerprint, indexed_at as indexedAt from worktrees where root = ?",
      )
      .get(project.root) as
      | { head: string | null; totals: string; fingerprint: string | null; indexedAt: number }
      | undefined;
    const snapshot = knownSnapshot(store) ?? null;
    const baseBytes = listBases(store).reduce((sum, base) => sum + base.sizeBytes, 0);
    if (!row) return { directory, indexed: false, snapshot };
    const { fileCount, symbolCount, chunkCount } = JSON.parse(row.totals) as Record<
      "fileCount" | "symbolCount" | "chunkCount",
      number
    >;
    const { size: sizeBytes } = statSync(IndexStore.fileIn(directory));
    const { head, fingerprint } = row;
    const indexedAt = new Date(row.indexedAt).toISOString();
    return {
      directory,
      indexed: true,
      head,
      indexedAt,
      sizeBytes,
      fileCount,
      symbolCount,
      chunkCount,
      fingerprint,
      snapshot,
      baseBytes,
    };
  } finally {
    store.close();
  }
}

function describeLocal(local: LocalStatus, head: string | null | undefined, current: string | undefined): string {
  if (!local.indexed) return "none: run `codectx pull` or `codectx index --local`";
  const counts = `${plural(local.fileCount ?? 0, "file")}, ${plural(local.symbolCount ?? 0, "symbol")}, ${formatBytes(local.sizeBytes ?? 0)}`;
  const remarks = [
    local.baseBytes ? `and ${formatBytes(local.baseBytes)} as pulled` : "",
    head !== undefined && head !== local.head ? "of another commit" : "",
    local.fingerprint === null ? "vectors incomplete" : "",
    current !== undefined && local.fingerprint !== null && local.fingerprint !== current
      ? "embedding space changed: re-embed is due"
      : "",
  ].filter((remark) => remark !== "");
  return [counts, ...remarks].join(", ");
}
