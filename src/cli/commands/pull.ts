import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CodeContextClient } from "../../client/client.ts";
import { isLanguageId } from "../../parsing/detect.ts";
import { PARSER_VERSION } from "../../parsing/version.ts";
import { inBackground } from "../background.ts";
import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { changedSince, hasFilter } from "../git.ts";
import { countReread, type GitIndex, isAsIndexed, readGitIndex } from "../git-index.ts";
import { baseFile, basesAreThere, listBases, readArtifact } from "../index/bases.ts";
import type { ImportResult, SnapshotPath } from "../index/import-snapshot.ts";
import { lstatFile } from "../index/file-stat.ts";
import type { IndexOptions, Look } from "../index/index-worktree.ts";
import type { IndexStore } from "../index/store.ts";
import { findProject, requireRepo, type Project } from "../project.ts";
import { lookAtWorkTree, updateWorkTree, withWriter } from "../session.ts";
import { knownSnapshot, rememberSnapshot } from "../snapshot-state.ts";
import type { DownloadSource } from "../transfer/download.ts";
import { formatBytes, formatDuration } from "../ui.ts";
import { describeReport, rounded } from "./index-local.ts";

export interface PullOptions {
  repo?: string;
  embed: boolean;
  force?: boolean;
}

export interface Fetched {
  /** False where the index held this snapshot already. */
  downloaded: boolean;
  gitSha: string;
  sizeBytes: number;
  fingerprint: string;
}

export interface FetchOptions {
  force: boolean;
  /** Told the commit of the snapshot before it is downloaded. */
  onCommit?: (gitSha: string) => void;
}

/** `codectx pull`: takes the current snapshot over, then indexes only what differs in the work tree. */
export async function pull(context: Context, options: PullOptions): Promise<void> {
  const startedAt = performance.now();
  // The service is asked for its embedding space while git looks around.
  const connecting = inBackground(connect(context));
  const space = inBackground(
    options.embed
      ? connecting.then(async (client) => client.checkEmbed({ signal: context.stop }))
      : Promise.resolve(undefined),
  );
  const project = await findProject(context, { listFiles: true });
  const repo = requireRepo(project, options.repo);
  const client = await connecting;
  const work = async (store: IndexStore): Promise<void> => {
    const look = inBackground(lookAtWorkTree(project));
    let state: WorkTreeState | undefined;
    const onCommit = (gitSha: string): void => {
      if (!project.plainFolder && state?.gitSha !== gitSha) state = compareWith(project, gitSha, look);
    };
    // Most snapshots are of the commit that is checked out: while the service is asked, git compares.
    if (store.unsettled && project.head !== undefined) onCommit(project.head);
    const fetched = await fetchSnapshot(context, client, project, store, repo, {
      force: options.force === true,
      onCommit,
    });
    if (!fetched) throw new CliError(EXIT.notFound, "NO_SNAPSHOT", `no snapshot of ${repo} has been published`);
    const { paths, ...snapshot } = fetched;
    const pulledMs = Math.round(performance.now() - startedAt);
    const current = await space;
    const embed = current?.fingerprint === snapshot.fingerprint;
    if (options.embed && !embed) {
      context.ui.warn(
        "the snapshot's vectors are of another embedding space: `codectx index --local` embeds everything again",
      );
    }
    const report = await updateWorkTree(context, project, store, {
      embed,
      space: current,
      look,
      ...(state && paths ? { nowMs: state.nowMs, vouched: await vouchedBy(paths, project.root, state) } : {}),
    });
    if (snapshot.downloaded) {
      const { pruneBases } = await import("../index/base.ts");
      await pruneBases(store);
    }
    store.settle({ reopen: false });
    const durationMs = Math.round(performance.now() - startedAt);
    context.ui.result({ repo, ...snapshot, workTree: rounded(report), pulledMs, durationMs }, () => [
      snapshot.downloaded
        ? `Pulled ${repo}@${snapshot.gitSha.slice(0, 10)} (${formatBytes(snapshot.sizeBytes)}) in ${formatDuration(pulledMs)}`
        : `${repo}@${snapshot.gitSha.slice(0, 10)} is here already`,
      ...describeReport(report, durationMs - pulledMs),
    ]);
  };
  await withWriter(context, project, "pull", work, { forImport: true });
}

/** What git says of a work tree, compared with a commit. */
interface WorkTreeState {
  gitSha: string;
  /** When the comparison began. */
  nowMs: number;
  look: Promise<Look>;
  /** Undefined where git cannot tell. */
  changed: Promise<Set<string> | undefined>;
  /** Git's index as it was before the comparison began. */
  index: GitIndex | undefined;
  /** Whether git compared no more than its index with the commit. */
  indexOnly: boolean;
}

/** When git would read more files than this again to tell whether they have changed, they are compared here. */
const MAX_REREAD = 16;

function compareWith({ root, indexFile, head }: Project, gitSha: string, look: Promise<Look>): WorkTreeState {
  const nowMs = Date.now();
  const index = indexFile === undefined ? undefined : readGitIndex(indexFile, (head ?? gitSha).length / 2);
  const indexOnly = index !== undefined && countReread(index) > MAX_REREAD;
  const compared = Promise.all([changedSince(root, gitSha, { indexOnly }), hasFilter(root)]);
  const changed = inBackground(compared.then(([paths, isFiltered]) => (isFiltered ? undefined : paths)));
  return { gitSha, nowMs, look, changed, index, indexOnly };
}

async function connect(context: Context): Promise<CodeContextClient> {
  const credentials = credentialsOf(context);
  const apiKey = requireApiKey(credentials);
  return createClient(context, { ...credentials, apiKey });
}

/** Contents of files that are, as git knows, what they were in the snapshot's commit. */
async function vouchedBy(
  paths: ReadonlyMap<string, SnapshotPath>,
  root: string,
  { changed, look, index, indexOnly }: WorkTreeState,
): Promise<IndexOptions["vouched"]> {
  const [differing, { files }] = await Promise.all([changed, look]);
  if (!differing || !files) return undefined;
  const compared = indexOnly ? index : undefined;
  // What git compared has to be the index that the files are compared with.
  if (compared?.isCurrent() === false) return undefined;
  return (path) => {
    const content = paths.get(path);
    if (!content || !isLanguageId(content.language) || differing.has(path) || files.unwatched.has(path))
      return undefined;
    const stat = index?.stats.get(path);
    if (compared) {
      const file = stat && lstatFile(root, path);
      if (!file || !isAsIndexed(file, compared, stat)) return undefined;
    }
    const { contentId, language, sizeBytes } = content;
    return { contentId, language, sizeBytes, stat: stat?.size === sizeBytes ? stat : undefined };
  };
}

/**
 * Downloads and imports the current snapshot unless the index holds it; undefined where none is published. Whoever opened
 * the index for an import has to settle it afterwards.
 */
export async function fetchSnapshot(
  context: Context,
  client: CodeContextClient,
  project: Project,
  store: IndexStore,
  repo: string,
  { force, onCommit }: FetchOptions,
): Promise<(Fetched & { paths?: ReadonlyMap<string, SnapshotPath> }) | undefined> {
  const renew = async (): Promise<DownloadSource & { gitSha: string }> => {
    const { manifest, signedUrl } = await client.snapshots.pull({ repo }, { signal: context.stop });
    return { url: signedUrl, checksum: manifest.checksum, sizeBytes: manifest.sizeBytes, gitSha: manifest.gitSha };
  };
  const probing = inBackground(client.snapshots.probe({ repo }, { signal: context.stop }));
  // An index that does not exist yet holds no snapshot: the answer to the probe need not be awaited.
  const renewing = store.unsettled ? inBackground(renew()) : undefined;
  // Loaded while the service answers.
  const modules = inBackground(Promise.all([import("../transfer/download.ts"), import("../index/import-snapshot.ts")]));
  const probe = await probing;
  if (!probe.exists) return undefined;
  const { gitSha, sizeBytes, embeddingModel: fingerprint } = probe;
  const known = knownSnapshot(store);
  const same =
    known?.repo === repo &&
    known.gitSha === gitSha &&
    known.sizeBytes === sizeBytes &&
    known.fingerprint === fingerprint &&
    basesAreThere(store);
  if (same && !force) return { downloaded: false, gitSha, sizeBytes, fingerprint };

  const asked = renewing ?? inBackground(renew());
  onCommit?.(gitSha);
  const source = await asked;
  // Named by its checksum: a part of this very artifact is taken up again, one of another never.
  const file = join(project.directory, `${source.checksum.replace(":", "-")}.part`);
  const [{ download }] = await modules;
  let line = context.ui.progress("Downloading");
  try {
    await download(source, file, {
      signal: context.stop,
      renew,
      onProgress: (done, total) => line.update(done, total, `${formatBytes(done)} of ${formatBytes(total)}`),
    });
    line = context.ui.progress("Importing  ");
    const { markVerified } = await import("../index/base.ts");
    markVerified(source.checksum);
    const { header, paths } = await takeOver(store, file, source, (done, total) => line.update(done, total));
    const snapshot = {
      gitSha: source.gitSha,
      sizeBytes: source.sizeBytes ?? sizeBytes,
      fingerprint: header.fingerprint,
    };
    rememberSnapshot(store, { repo, ...snapshot });
    return { downloaded: true, ...snapshot, ...(source.gitSha === gitSha ? { paths } : {}) };
  } finally {
    line.end();
  }
}

/** Imports the verified artifact. The file is kept if it serves as a base layer; otherwise a second look would find the same. */
async function takeOver(
  store: IndexStore,
  file: string,
  { checksum, gitSha }: { checksum: string; gitSha: string },
  onProgress: (done: number, total: number) => void,
): Promise<ImportResult> {
  const { importSnapshot } = await import("../index/import-snapshot.ts");
  const kept = baseFile(store.directory, checksum);
  renameSync(file, kept);
  try {
    return await readArtifact(kept, async (bytes) =>
      importSnapshot(store, bytes, { gitSha, checksum, parserVersion: PARSER_VERSION, onProgress }),
    );
  } finally {
    if (!listBases(store).some((base) => base.checksum === checksum)) rmSync(kept, { force: true });
  }
}
