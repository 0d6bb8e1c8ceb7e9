import { open } from "node:fs/promises";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { CodeContextClient } from "../../client/client.ts";
import { PARSER_VERSION } from "../../parsing/version.ts";
import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { IndexStore } from "../index/store.ts";
import { findProject, requireRepo, type Project } from "../project.ts";
import { updateWorkTree, withWriter } from "../session.ts";
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

/** `codectx pull`: takes the current snapshot over, then indexes only what differs in the work tree. */
export async function pull(context: Context, options: PullOptions): Promise<void> {
  const startedAt = performance.now();
  const project = await findProject(context);
  const repo = requireRepo(project, options.repo);
  const credentials = credentialsOf(context);
  const apiKey = requireApiKey(credentials);
  const client = await createClient(context, { ...credentials, apiKey });
  const work = async (store: IndexStore): Promise<void> => {
    const fetched = await fetchSnapshot(context, client, project, store, repo, options.force === true);
    if (!fetched) throw new CliError(EXIT.notFound, "NO_SNAPSHOT", `no snapshot of ${repo} has been published`);
    const pulledMs = Math.round(performance.now() - startedAt);
    const { fingerprint: current } = await client.checkEmbed({ signal: context.stop });
    const embed = options.embed && current === fetched.fingerprint;
    if (options.embed && !embed) {
      context.ui.warn(
        "the snapshot's vectors are of another embedding space: `codectx index --local` embeds everything again",
      );
    }
    const report = await updateWorkTree(context, project, store, { embed });
    const durationMs = Math.round(performance.now() - startedAt);
    context.ui.result({ repo, ...fetched, workTree: rounded(report), pulledMs, durationMs }, () => [
      fetched.downloaded
        ? `Pulled ${repo}@${fetched.gitSha.slice(0, 10)} (${formatBytes(fetched.sizeBytes)}) in ${formatDuration(pulledMs)}`
        : `${repo}@${fetched.gitSha.slice(0, 10)} is here already`,
      ...describeReport(report, durationMs - pulledMs),
    ]);
  };
  await withWriter(context, project, "pull", work, { forImport: true });
}

/** Downloads and imports the current snapshot unless the index holds it; undefined where none is published. */
export async function fetchSnapshot(
  context: Context,
  client: CodeContextClient,
  project: Project,
  store: IndexStore,
  repo: string,
  force: boolean,
): Promise<Fetched | undefined> {
  const probe = await client.snapshots.probe({ repo }, { signal: context.stop });
  if (!probe.exists) return undefined;
  const { gitSha, sizeBytes, embeddingModel: fingerprint } = probe;
  const known = knownSnapshot(store);
  const same =
    known?.repo === repo &&
    known.gitSha === gitSha &&
    known.sizeBytes === sizeBytes &&
    known.fingerprint === fingerprint;
  if (same && !force) return { downloaded: false, gitSha, sizeBytes, fingerprint };

  const renew = async (): Promise<DownloadSource & { gitSha: string }> => {
    const { manifest, signedUrl } = await client.snapshots.pull({ repo }, { signal: context.stop });
    return { url: signedUrl, checksum: manifest.checksum, sizeBytes: manifest.sizeBytes, gitSha: manifest.gitSha };
  };
  const source = await renew();
  // Named by its checksum: a part of this very artifact is taken up again, one of another never.
  const file = join(project.directory, `${source.checksum.replace(":", "-")}.part`);
  const { download } = await import("../transfer/download.ts");
  let line = context.ui.progress("Downloading");
  try {
    await download(source, file, {
      signal: context.stop,
      renew,
      onProgress: (done, total) => line.update(done, total, `${formatBytes(done)} of ${formatBytes(total)}`),
    });
    line = context.ui.progress("Importing  ");
    const { header } = await takeOver(store, file, source.gitSha, (done, total) => line.update(done, total));
    const snapshot = {
      gitSha: source.gitSha,
      sizeBytes: source.sizeBytes ?? sizeBytes,
      fingerprint: header.fingerprint,
    };
    rememberSnapshot(store, { repo, ...snapshot });
    store.settle();
    return { downloaded: true, ...snapshot };
  } finally {
    line.end();
  }
}

/** Imports the verified artifact; the file goes either way, since a second look would find the same. */
async function takeOver(
  store: IndexStore,
  file: string,
  gitSha: string,
  onProgress: (done: number, total: number) => void,
) {
  const { importSnapshot } = await import("../index/import-snapshot.ts");
  try {
    return await readArtifact(file, async (bytes) =>
      importSnapshot(store, bytes, { gitSha, parserVersion: PARSER_VERSION, onProgress }),
    );
  } finally {
    rmSync(file, { force: true });
  }
}

async function readArtifact<T>(
  file: string,
  use: (bytes: { byteLength: number; read: (start: number, end: number) => Promise<Uint8Array> }) => Promise<T>,
): Promise<T> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    return await use({
      byteLength: size,
      read: async (start, end) => {
        const { buffer, bytesRead } = await handle.read(new Uint8Array(end - start), 0, end - start, start);
        return buffer.subarray(0, bytesRead);
      },
    });
  } finally {
    await handle.close();
  }
}
