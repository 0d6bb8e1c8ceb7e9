import { DEFAULT_MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import { listReadableTree, listTree } from "../git/commit-tree.ts";
import { readBlobs, readIntactBlobs } from "../git/objects.ts";
import { readIgnores } from "./commit-ignores.ts";
import type { BuilderStats } from "./content-builder.ts";
import type { EmbedStats } from "./embed-queue.ts";
import { inParsingOrder } from "./parsing-order.ts";
import { runBuild, type BuildOptions, type Built } from "./run-build.ts";
import { detectLanguage, mayBeScript } from "../../engines/parsing/detect.ts";
import { selectPath } from "./scan.ts";
import { intact } from "./schema.ts";
import type { IndexStore } from "./store.ts";
import type { Embedding } from "./vectors.ts";
import { verified } from "./verified.ts";

const REGULAR_FILE = 0o100644;
const EXECUTABLE_FILE = 0o100755;

export interface CommitFile {
  path: string;
  /** Id of its object. */
  oid: string;
  contentId: number;
}

export interface CommitIndex {
  /** Files with content worth indexing, in no particular order. */
  files: CommitFile[];
  fingerprint: string;
  dimension: number;
  builder: BuilderStats;
  embed: EmbedStats;
}

interface CommitOptions extends BuildOptions {
  root: string;
  commit: string;
  parserVersion: number;
  onIndexProgress?: (progress: { done: number; total: number }) => void;
  /** Indexes what can be read of a commit of which git lacks objects. Else that is an error. */
  isPartAllowed?: boolean;
}

/** Indexes and embeds a commit from git's objects, without uncommitted changes. */
export async function indexCommit(
  store: IndexStore,
  embedding: Embedding,
  options: CommitOptions,
): Promise<CommitIndex> {
  const { files, contentIds, built } = await parseCommit(store, embedding, options);
  const embedded = await built.embed(contentIds);
  const fingerprint = embedded?.fingerprint ?? embedding.space.fingerprint;
  const { dimension } = store.prepare("select dimension from fingerprints where fingerprint = ?").get(fingerprint) as {
    dimension: number;
  };
  const nothing: EmbedStats = { embeddedCount: 0, credits: 0, requests: 0, embedMs: 0 };
  return { files, fingerprint, dimension, builder: built.stats, embed: embedded?.stats ?? nothing };
}

/** The parsed files of a commit. */
interface ParsedCommit {
  /** As in {@link CommitIndex}. */
  files: CommitFile[];
  /** Contents of the selected files, including those not worth indexing. */
  contentIds: Set<number>;
  /** Files that git cannot read, in order, and folders, with a `/` behind them. */
  unread: string[];
  built: Built<void>;
}

/** The first half of {@link indexCommit}: parses unknown contents. Sends nothing without an embedding. */
export async function parseCommit(
  store: IndexStore,
  embedding: Embedding | undefined,
  options: CommitOptions,
): Promise<ParsedCommit> {
  const { root, commit, isPartAllowed } = options;
  const tree = isPartAllowed
    ? await listReadableTree(root, commit)
    : { entries: await listTree(root, commit), unread: [] };
  const read = isPartAllowed ? readIntactBlobs : readBlobs;
  const unreadOids = new Set<string>();
  const entries = tree.entries.filter(
    ({ mode, sizeBytes }) =>
      (mode === REGULAR_FILE || mode === EXECUTABLE_FILE) && sizeBytes <= DEFAULT_MAX_FILE_SIZE_BYTES,
  );
  const rules = await readIgnores(root, entries, read);
  const interpreters = new Map<string, LanguageId>();
  const scripts = new Set(entries.filter(({ path }) => mayBeScript(path)).map(({ oid }) => oid));
  for await (const { oid, bytes } of read(root, [...scripts])) {
    const language = bytes && detectLanguage("", bytes);
    if (language !== undefined) interpreters.set(oid, language);
    if (!bytes) unreadOids.add(oid);
  }
  const selected = entries.flatMap((entry) => {
    const language = selectPath(entry.path, rules, {}, () => interpreters.get(entry.oid));
    return language === undefined ? [] : [{ ...entry, language }];
  });
  const contents = new Map<string, number>();
  const unknown = new Map<string, { oid: string; language: LanguageId }>();
  const find = store.prepare(
    `select c.id, ${intact("blobs", "b")} as intact from blobs b join contents c on c.id = b.content_id
     where b.oid = ? and b.language = ? and c.parser_version = ?`,
  );
  for (const { oid, language } of selected) {
    const row = find.get(oid, language, options.parserVersion);
    if (row) contents.set(`${oid} ${language}`, verified<{ id: number }>(row).id);
    else unknown.set(`${oid} ${language}`, { oid, language });
  }
  const built = await runBuild(store, embedding, { ...options, expectedFiles: unknown.size }, async (builder) => {
    const wanted = inParsingOrder([...unknown.values()]);
    let done = 0;
    for await (const { oid, bytes } of read(
      root,
      wanted.map(({ oid }) => oid),
    )) {
      options.stop?.throwIfAborted();
      const language = wanted[done]?.language;
      if (!bytes) unreadOids.add(oid);
      else if (language !== undefined)
        await builder.add(bytes, language, (id) => contents.set(`${oid} ${language}`, id));
      options.onIndexProgress?.({ done: ++done, total: wanted.length });
    }
    await builder.finish();
    saveBlobs(store, unknown, contents);
  });
  const indexed = store.prepare("select 1 from contents where id = ? and skip is null");
  const files = selected.flatMap(({ path, oid, language }) => {
    const contentId = contents.get(`${oid} ${language}`);
    return contentId !== undefined && indexed.get(contentId) ? [{ path, oid, contentId }] : [];
  });
  const unread = entries.filter(({ oid }) => unreadOids.has(oid)).map(({ path }) => path);
  return { files, contentIds: new Set(contents.values()), unread: [...unread, ...tree.unread], built };
}

function saveBlobs(
  store: IndexStore,
  unknown: ReadonlyMap<string, { oid: string; language: LanguageId }>,
  contents: ReadonlyMap<string, number>,
): void {
  store.transaction(() => {
    const put = store.prepare("insert or replace into blobs (oid, language, content_id) values (?, ?, ?)");
    for (const [key, { oid, language }] of unknown) {
      const id = contents.get(key);
      if (id !== undefined) put.run(oid, language, id);
    }
  });
}
