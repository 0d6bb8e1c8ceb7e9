import { createWriteStream, rmSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import type { CodeContextClient } from "../../interface/client/client.ts";
import { SearchFormatError } from "../../engines/search/types.ts";
import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { countChanges, isAncestor, resolveCommit } from "../git/git.ts";
import { listBases } from "../indexing/bases.ts";
import { indexCommit, type CommitIndex } from "../indexing/index-commit.ts";
import { findProject, requireGit, requireRepo, type Project } from "../project.ts";
import { openEmbedding, withWriter } from "../indexing/session.ts";
import { SegmentCollector } from "../local-index/build.ts";
import { writeCommitTable } from "../local-index/commit-index.ts";
import { SearchFolder } from "../local-index/search-folder.ts";
import { openStoredUses } from "../local-index/stored-uses.ts";
import { saveKnownSnapshot } from "../indexing/known-snapshot.ts";
import type { UploadTarget } from "../transfer/upload.ts";
import { formatBytes, formatCount, formatDuration, plural } from "../terminal/ui.ts";

export interface PublishOptions {
  repo?: string;
  commit?: string;
  /** Publish even if this commit or a newer one is already published. */
  force?: boolean;
  /** Commit of the snapshot that may be replaced; null: there must be none; undefined: any. */
  expectedGitSha?: string | null;
}

export interface Published {
  repo: string;
  gitSha: string;
  /** False if the service has exactly this snapshot already. */
  published: boolean;
  storagePath?: string;
  checksum?: string;
  sizeBytes?: number;
  fileCount?: number;
  symbolCount?: number;
  chunkCount?: number;
  embeddedCount?: number;
  credits?: number;
}

/** `codectx publish` */
export async function publish(context: Context, options: PublishOptions): Promise<void> {
  const startedAt = performance.now();
  const published = await publishCommit(context, options);
  const durationMs = Math.round(performance.now() - startedAt);
  context.ui.result({ ...published, durationMs }, () =>
    describePublished(published, durationMs, " (--force publishes it again)"),
  );
}

/** What was published, as text; `remedy` is added where the commit was published before. */
export function describePublished(published: Published, durationMs: number, remedy = ""): string[] {
  const { repo, gitSha, sizeBytes = 0, fileCount = 0, symbolCount = 0, embeddedCount = 0, credits = 0 } = published;
  const commit = gitSha.slice(0, 10);
  if (!published.published) return [`${repo}@${commit} is published already${remedy}`];
  return [
    `Published ${repo}@${commit}: ${plural(fileCount, "file")}, ${plural(symbolCount, "symbol")}, ${formatBytes(sizeBytes)} in ${formatDuration(durationMs)}`,
    `${plural(embeddedCount, "chunk")} embedded for ${plural(credits, "credit")}`,
  ];
}

/** Builds the artifact of a commit, uploads it straight to the storage and makes it the current snapshot. */
export async function publishCommit(context: Context, options: PublishOptions): Promise<Published> {
  const project = await findProject(context);
  requireGit(project);
  const repo = requireRepo(project, options.repo);
  const gitSha = await resolveCommit(project.root, options.commit);
  if (gitSha === undefined) {
    const what =
      options.commit === undefined ? "this repository has no commit yet" : `no such commit: ${options.commit}`;
    throw new CliError(EXIT.notFound, "NO_COMMIT", what);
  }
  const credentials = credentialsOf(context);
  const apiKey = requireApiKey(credentials);
  const client = await createClient(context, { ...credentials, apiKey });
  if (options.commit === undefined) await noteChanges(context, project);

  return withWriter(context, project, "publish", async (store) => {
    const embedding = await openEmbedding(context, store, true);
    const current = await client.snapshots.probe({ repo }, { signal: context.stop });
    const sameSpace = current.exists && current.embeddingModel === embedding.space.fingerprint;
    if (!options.force && sameSpace && current.gitSha === gitSha) return { repo, gitSha, published: false };
    if (!options.force && current.exists && current.gitSha !== gitSha)
      await rejectOlder(project, gitSha, current.gitSha);

    if (listBases(store).length > 0) {
      const { completeBases } = await import("../indexing/base.ts");
      await completeBases(store);
    }
    let line = context.ui.progress("Indexing ");
    const artifact = join(project.directory, `publish-${process.pid}.parquet`);
    const collector = new SegmentCollector(new SearchFolder(project.directory));
    try {
      const index = await indexCommit(store, embedding, {
        root: project.root,
        commit: gitSha,
        parserVersion: PARSER_VERSION,
        stop: context.stop,
        abort: context.abort,
        onAnalysis: (analysis) => collector.add(analysis),
        onIndexProgress: ({ done, total }) => line.update(done, total, `${done}/${total} files`),
        onEmbedProgress: ({ done, total }) =>
          done < total
            ? line.update(done, total, `${done}/${total} chunks embedded`)
            : line.note(`${formatCount(done)} chunks embedded`),
      });
      collector.finish();
      line = context.ui.progress("Building ");
      const build = () =>
        buildArtifact(store, project, index, gitSha, artifact, (done) => line.update(done, index.files.length));
      const written = await build().catch((error: unknown) => {
        if (!(error instanceof SearchFormatError)) throw error;
        context.ui.note("the search index was damaged and is rebuilt");
        new SearchFolder(project.directory).clear();
        return build();
      });
      line = context.ui.progress("Uploading");
      const { storagePath } = await uploadAndCommit(context, client, repo, written, artifact, options, (done, total) =>
        line.update(done, total, `${formatBytes(done)} of ${formatBytes(total)}`),
      );
      const { checksum, sizeBytes, fileCount, symbolCount, chunkCount } = written.manifest;
      saveKnownSnapshot(store, { repo, gitSha, sizeBytes, fingerprint: index.fingerprint });
      const { embeddedCount, credits } = index.embed;
      return {
        repo,
        gitSha,
        published: true,
        storagePath,
        checksum,
        sizeBytes,
        fileCount,
        symbolCount,
        chunkCount,
        embeddedCount,
        credits,
      };
    } finally {
      line.end();
      rmSync(artifact, { force: true });
    }
  });
}

/** Throws if the commit is an ancestor of the published one. */
async function rejectOlder({ root }: Project, gitSha: string, published: string): Promise<void> {
  if (!(await isAncestor(root, gitSha, published))) return;
  throw new CliError(
    EXIT.busy,
    "NEWER_PUBLISHED",
    `${gitSha.slice(0, 10)} is older than the published commit ${published.slice(0, 10)}; --force replaces it anyway`,
    { details: { gitSha, published } },
  );
}

async function noteChanges(context: Context, project: Project): Promise<void> {
  const changes = await countChanges(project.root);
  if (changes > 0) {
    context.ui.warn(
      `${formatCount(changes)} uncommitted ${changes === 1 ? "change is" : "changes are"} not part of the snapshot: it describes the commit`,
    );
  }
}

type Store = Parameters<typeof saveKnownSnapshot>[0];

async function buildArtifact(
  store: Store,
  project: Project,
  index: CommitIndex,
  gitSha: string,
  artifact: string,
  onFile: (done: number) => void,
) {
  const [{ writeSnapshot }, { snapshotSource }] = await Promise.all([
    import("../../engines/snapshot/writer.ts"),
    import("../indexing/snapshot-source.ts"),
  ]);
  // Before the file is created: a damaged search index is found here, and nothing is left open.
  const uses = await openStoredUses(
    new SearchFolder(project.directory),
    await writeCommitTable(store, project, gitSha, index.files),
  );
  const output = createWriteStream(artifact, { mode: 0o600 });
  // Errors are handled through `closed`; without a listener they would end the process.
  const closed = once(output, "close");
  closed.catch(() => undefined);
  const source = snapshotSource(store, index, { gitSha, parserVersion: PARSER_VERSION, readUses: uses.read, onFile });
  try {
    const written = await writeSnapshot(source, async (bytes) => {
      if (!output.write(bytes)) await Promise.race([once(output, "drain"), closed]);
    });
    output.end();
    await closed;
    return written;
  } finally {
    uses.close();
    output.destroy();
  }
}

async function uploadAndCommit(
  context: Context,
  client: CodeContextClient,
  repo: string,
  { manifest }: Awaited<ReturnType<typeof buildArtifact>>,
  artifact: string,
  options: PublishOptions,
  onProgress: (done: number, total: number) => void,
): Promise<{ storagePath: string }> {
  const { upload } = await import("../transfer/upload.ts");
  const { sizeBytes } = manifest;
  const sign = async (): Promise<UploadTarget & { storagePath: string }> => {
    const signed = await client.snapshots.sign({ manifest, repo, sizeBytes }, { signal: context.stop });
    storagePath = signed.storagePath;
    return { url: signed.uploadUrl, headers: signed.uploadHeaders, storagePath };
  };
  let storagePath = "";
  await upload(await sign(), artifact, sizeBytes, { signal: context.stop, renew: sign, onProgress });
  const { expectedGitSha } = options;
  return client.snapshots.commit(
    { manifest, sizeBytes, repo, storagePath, ...(expectedGitSha === undefined ? {} : { expectedGitSha }) },
    { signal: context.stop },
  );
}
