import { statSync } from "node:fs";
import { PARSER_VERSION } from "../../parsing/version.ts";
import { createClient, credentialsOf, type Context } from "../context.ts";
import { countChanges, resolveCommit } from "../git.ts";
import { listBases } from "../index/bases.ts";
import { IndexStore } from "../index/store.ts";
import { findProject, type Project } from "../project.ts";
import { knownSnapshot, type KnownSnapshot } from "../snapshot-state.ts";
import { formatBytes, formatCount, table } from "../ui.ts";

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
  /** Bytes of pulled artifacts that hold chunks and vectors of the index. */
  baseBytes?: number;
}

/** `codectx status`: who you are, what is indexed here, what is published. Only the checks that can be made are made. */
export async function status(context: Context): Promise<void> {
  const project = await findProject(context);
  const credentials = credentialsOf(context);
  const local = localStatus(project);
  const git = project.plainFolder
    ? undefined
    : { head: (await resolveCommit(project.root)) ?? null, changes: await countChanges(project.root) };
  const client = await createClient(context, credentials);
  const options = { signal: context.stop, maxRetries: 0, timeoutMs: 10_000 };
  const failures: Record<string, string> = {};
  const attempt = async <T>(name: string, call: () => Promise<T>): Promise<T | null> => {
    try {
      return await call();
    } catch (error) {
      if (context.stop.aborted) throw error;
      failures[name] = error instanceof Error ? error.message : String(error);
      return null;
    }
  };
  const service = await attempt("service", async () => client.health(options));
  const key =
    service && credentials.apiKey !== undefined ? await attempt("key", async () => client.checkEmbed(options)) : null;
  const { repo } = project;
  const snapshot =
    key && repo !== undefined ? await attempt("snapshot", async () => client.snapshots.probe({ repo }, options)) : null;
  const document = {
    apiUrl: credentials.apiUrl,
    service: service && { status: service.status, version: service.version },
    loggedIn: key !== null,
    fingerprint: key?.fingerprint ?? null,
    project: { root: project.root, repo: repo ?? null, ...git },
    local,
    snapshot,
    failures,
  };
  context.ui.result(document, () =>
    table([
      [
        "Service",
        service
          ? `${credentials.apiUrl} (${service.status}, version ${service.version})`
          : `${credentials.apiUrl}: ${failures["service"] ?? ""}`,
      ],
      [
        "Key",
        key
          ? "accepted"
          : (failures["key"] ?? (credentials.apiKey === undefined ? "none: run `codectx login`" : "not checked")),
      ],
      ["Project", `${repo ?? "no remote"} in ${project.root}`],
      ...(git
        ? [
            [
              "Commit",
              `${git.head?.slice(0, 10) ?? "none"}${git.changes > 0 ? `, ${formatCount(git.changes)} uncommitted` : ""}`,
            ],
          ]
        : []),
      ["Index", describeLocal(local, git?.head, key?.fingerprint)],
      ["Folder", local.directory],
      [
        "Snapshot",
        snapshot?.exists
          ? `${snapshot.gitSha.slice(0, 10)}, built ${snapshot.builtAt}, ${formatBytes(snapshot.sizeBytes)}${snapshot.isCurrent ? "" : " (not current)"}`
          : (failures["snapshot"] ?? (snapshot ? "none published" : "not checked")),
      ],
    ]),
  );
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
  const counts = `${formatCount(local.fileCount ?? 0)} files, ${formatCount(local.symbolCount ?? 0)} symbols, ${formatBytes(local.sizeBytes ?? 0)}`;
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
