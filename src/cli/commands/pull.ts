import { rmSync } from "node:fs";
import { join } from "node:path";
import type { CodeContextClient } from "../../interface/client/client.ts";
import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import type { SnapshotHeader } from "../../engines/snapshot/types.ts";
import { inBackground } from "../background.ts";
import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { baseFile, basesAreIntact, listBases, readArtifact } from "../indexing/bases.ts";
import type { IndexStore } from "../indexing/store.ts";
import { findProject, requireRepo, type Project } from "../project.ts";
import { updateForSearch } from "../local-index/update.ts";
import { SearchFolder } from "../local-index/search-folder.ts";
import { withWriter } from "../indexing/session.ts";
import { knownSnapshot, saveKnownSnapshot } from "../indexing/known-snapshot.ts";
import type { DownloadSource } from "../transfer/download.ts";
import { formatBytes, formatDuration } from "../terminal/ui.ts";
import { describeReport, rounded } from "./index-local.ts";
import { renameFile } from "../machine/platform.ts";

export interface PullOptions {
  repo?: string;
  embed: boolean;
  force?: boolean;
}

interface Fetched {
  /** False if the index already holds this snapshot. */
  downloaded: boolean;
  gitSha: string;
  sizeBytes: number;
  fingerprint: string;
}

/** `codectx pull`: imports the current snapshot and its search index, then indexes only what differs in the work tree. */
export async function pull(context: Context, options: PullOptions): Promise<void> {
  const startedAt = performance.now();
  // The embedding space is requested while git runs.
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
    const fetched = await fetchSnapshot(context, client, project, store, repo, {
      force: options.force === true,
      search: true,
    });
    if (!fetched) throw new CliError(EXIT.notFound, "NO_SNAPSHOT", `no snapshot of ${repo} has been published`);
    const snapshot = fetched;
    const pulledMs = Math.round(performance.now() - startedAt);
    const current = await space;
    const embed = current?.fingerprint === snapshot.fingerprint;
    if (options.embed && !embed) {
      context.ui.warn(
        "the snapshot's vectors are of another embedding space: `codectx index --local` embeds everything again",
      );
    }
    const report = await updateForSearch(context, project, store, { embed, space: current });
    if (snapshot.downloaded) {
      const { pruneBases } = await import("../indexing/base.ts");
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

async function connect(context: Context): Promise<CodeContextClient> {
  const credentials = credentialsOf(context);
  const apiKey = requireApiKey(credentials);
  return createClient(context, { ...credentials, apiKey });
}

interface FetchOptions {
  /** Download it even if the index holds it. */
  force: boolean;
  /** Take its search index over, too. */
  search?: boolean;
}

/**
 * Downloads and imports the current snapshot unless the index already holds it; undefined if none is published. A caller that opened
 * the index for an import must settle it afterwards.
 */
export async function fetchSnapshot(
  context: Context,
  client: CodeContextClient,
  project: Project,
  store: IndexStore,
  repo: string,
  { force, search = false }: FetchOptions,
): Promise<Fetched | undefined> {
  const renew = async (): Promise<DownloadSource & { gitSha: string }> => {
    const { manifest, signedUrl } = await client.snapshots.pull({ repo }, { signal: context.stop });
    return { url: signedUrl, checksum: manifest.checksum, sizeBytes: manifest.sizeBytes, gitSha: manifest.gitSha };
  };
  const probing = inBackground(client.snapshots.probe({ repo }, { signal: context.stop }));
  // A new index has no snapshot: request the download URL without waiting for the probe.
  const renewing = store.unsettled ? inBackground(renew()) : undefined;
  // Loaded while the service answers.
  const modules = inBackground(
    Promise.all([import("../transfer/download.ts"), import("../indexing/import-snapshot.ts")]),
  );
  const probe = await probing;
  if (!probe.exists) return undefined;
  const { gitSha, sizeBytes, embeddingModel: fingerprint } = probe;
  const known = knownSnapshot(store);
  const same =
    known?.repo === repo &&
    known.gitSha === gitSha &&
    known.sizeBytes === sizeBytes &&
    known.fingerprint === fingerprint &&
    (await basesAreIntact(store));
  if (same && !force) return { downloaded: false, gitSha, sizeBytes, fingerprint };

  const asked = renewing ?? inBackground(renew());
  const source = await asked;
  // The name includes the checksum, so that only a part of the same artifact is resumed.
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
    const { markVerified } = await import("../indexing/base.ts");
    markVerified(source.checksum);
    const header = await importArtifact(store, file, source, search, (done, total) => line.update(done, total));
    const snapshot = {
      gitSha: source.gitSha,
      sizeBytes: source.sizeBytes ?? sizeBytes,
      fingerprint: header.fingerprint,
    };
    saveKnownSnapshot(store, { repo, ...snapshot });
    return { downloaded: true, ...snapshot };
  } finally {
    line.end();
  }
}

/** Imports the verified artifact. The file is kept if it serves as a base layer. */
async function importArtifact(
  store: IndexStore,
  file: string,
  { checksum, gitSha }: { checksum: string; gitSha: string },
  search: boolean,
  onProgress: (done: number, total: number) => void,
): Promise<SnapshotHeader> {
  const { importSnapshot } = await import("../indexing/import-snapshot.ts");
  const kept = baseFile(store.directory, checksum);
  renameFile(file, kept);
  try {
    return await readArtifact(kept, async (bytes) => {
      const header = await importSnapshot(store, bytes, {
        gitSha,
        checksum,
        parserVersion: PARSER_VERSION,
        onProgress,
      });
      if (search && header.parserVersion === PARSER_VERSION) {
        const { installSegments } = await import("../local-index/install.ts");
        await installSegments(new SearchFolder(store.directory), bytes);
      }
      return header;
    });
  } finally {
    if (!listBases(store).some((base) => base.checksum === checksum)) rmSync(kept, { force: true });
  }
}
