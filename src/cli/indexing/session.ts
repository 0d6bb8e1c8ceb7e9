import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import { requireApiKey, createClient, credentialsOf, type Context } from "../context.ts";
import type { EmbedCheckResponse } from "../../contract/index.ts";
import { noteIdentity } from "./identity.ts";
import { inBackground } from "../background.ts";
import type { FileListing } from "../git/git.ts";
import { type IndexOptions, indexWorkTree, type IndexReport } from "./index-worktree.ts";
import { listFiles } from "./list-files.ts";
import { takeWriteLock } from "./lock.ts";
import { IndexStore } from "./store.ts";
import type { Embedding } from "./vectors.ts";
import { IndexDamagedError } from "./verified.ts";
import type { Project } from "../project.ts";
import { formatCount } from "../terminal/ui.ts";

/** How long a second process waits for the first. */
const LOCK_WAIT_MS = 10 * 60_000;
/** Age after which the embedding space is requested again, even without changes. */
const SPACE_FRESH_MS = 3_600_000;

/** Work that takes no longer shows no progress. */
const SHORT_MS = 500;

interface WriterOptions {
  /** The index is opened for a snapshot's import. */
  forImport?: boolean;
  /** Damage that a reader has found; repaired first. */
  damage?: Error;
}

/** Runs `work` while holding the index's write lock. A damaged index is rebuilt, and `work` runs again. */
export async function withWriter<T>(
  context: Context,
  project: Project,
  command: string,
  work: (store: IndexStore) => Promise<T>,
  { forImport = false, damage }: WriterOptions = {},
): Promise<T> {
  const { directory } = project;
  const lock = await takeWriteLock(directory, {
    command,
    waitMs: LOCK_WAIT_MS,
    signal: context.stop,
    onWait: (holder) => context.ui.note(`waiting for ${holder}`),
  });
  const attempt = async (): Promise<T> => {
    const store = openStore(context, directory, forImport);
    try {
      return await work(store);
    } finally {
      store.close();
    }
  };
  try {
    noteIdentity(project);
    return await (damage ? Promise.reject(damage) : attempt()).catch(async (error: unknown) => {
      if (!(await repair(context, directory, error))) throw error;
      return attempt();
    });
  } finally {
    lock.release();
  }
}

/** Opens the index for writing; with progress, if one of an earlier version is upgraded. */
function openStore({ ui }: Context, directory: string, forImport: boolean): IndexStore {
  const line = ui.progress("Upgrading", { afterMs: SHORT_MS });
  const onUpgrade = (done: number, total: number): void => line.update(done, total, `${done}/${total} files`);
  try {
    return forImport
      ? IndexStore.openForImport(directory, PARSER_VERSION, onUpgrade)
      : IndexStore.open(directory, PARSER_VERSION, onUpgrade);
  } finally {
    line.end();
  }
}

/** Removes the damaged part and reports it; returns false if the error is not damage. The write lock must be held. */
async function repair(context: Context, directory: string, error: unknown): Promise<boolean> {
  const { isDamage, resetIndex } = await import("./damage.ts");
  if (!isDamage(error, directory)) return false;
  if (!(error instanceof IndexDamagedError && error.removed)) resetIndex(directory, PARSER_VERSION);
  context.ui.warn(`the local index was damaged and is rebuilt (${error.message})`);
  return true;
}

/** Rebuilds a damaged index from the work tree, without embedding. */
export async function rebuildIndex(context: Context, project: Project, damage: Error): Promise<void> {
  const work = (store: IndexStore): Promise<IndexReport> => updateWorkTree(context, project, store, { embed: false });
  await withWriter(context, project, "index --local", work, { damage });
}

interface RememberedSpace {
  fingerprint: string;
  dimension: number;
  checkedAtMs: number;
}

/**
 * Opens the service's embedder. Requests the embedding space first, which is free and checks the key. A run without changes reuses
 * an answer of the last hour; `asked` is an answer of this run.
 */
export async function openEmbedding(
  context: Context,
  store: IndexStore,
  changed: boolean,
  asked?: EmbedCheckResponse,
): Promise<Embedding> {
  const credentials = credentialsOf(context);
  const apiKey = requireApiKey(credentials);
  const key = `space ${credentials.apiUrl}`;
  const remembered = JSON.parse(store.getMeta(key) ?? "null") as RememberedSpace | null;
  const lazily = async () => createClient(context, { ...credentials, apiKey });
  if (!changed && remembered && Math.abs(Date.now() - remembered.checkedAtMs) < SPACE_FRESH_MS) {
    const { fingerprint, dimension } = remembered;
    const client = {
      embed: async (...call: Parameters<Embedding["client"]["embed"]>) => (await lazily()).embed(...call),
    };
    return { client, space: { ok: true, fingerprint, dimension } };
  }
  const client = await lazily();
  const space = asked ?? (await client.checkEmbed({ signal: context.stop }));
  if (remembered && remembered.fingerprint !== space.fingerprint) {
    context.ui.warn("the service's embedding space changed: every chunk is embedded again");
  }
  const { fingerprint, dimension } = space;
  store.fingerprintId(fingerprint, dimension);
  store.setMeta(key, JSON.stringify({ fingerprint, dimension, checkedAtMs: Date.now() } satisfies RememberedSpace));
  return { client, space };
}

export interface UpdateOptions {
  embed: boolean;
  /** From {@link listFiles}, if the caller needs it too. */
  files?: Promise<FileListing> | undefined;
  /** The embedding space, if this run has already requested it. */
  space?: EmbedCheckResponse | undefined;
  onAnalysis?: ((analysis: Uint8Array) => void) | undefined;
  /** As in `IndexOptions`. */
  isSame?: IndexOptions["isSame"];
  only?: IndexOptions["only"];
  onFiles?: IndexOptions["onFiles"];
}

/** Updates the index of the work tree, with progress. */
export async function updateWorkTree(
  context: Context,
  project: Project,
  store: IndexStore,
  options: UpdateOptions,
): Promise<IndexReport> {
  const nowMs = Date.now();
  const files = inBackground(options.files ?? listFiles(project));
  let line = context.ui.progress("Indexing ");
  let phase = "indexing";
  try {
    return await indexWorkTree(store, {
      root: project.root,
      head: project.head,
      files,
      parserVersion: PARSER_VERSION,
      nowMs,
      stop: context.stop,
      abort: context.abort,
      onAnalysis: options.onAnalysis,
      isSame: options.isSame,
      only: options.only,
      onFiles: options.onFiles,
      embedding: async (changed) => (options.embed ? openEmbedding(context, store, changed, options.space) : undefined),
      onIndexProgress: ({ done, total }) => {
        context.onIndexing?.(done, total);
        if (phase === "indexing") line.update(done, total, `${done}/${total} files`);
        if (done === total && phase === "indexing") {
          phase = "embedding";
          line = context.ui.progress("Embedding");
        }
      },
      onEmbedProgress: ({ done, total }) => {
        if (phase !== "embedding") return;
        if (done < total) line.update(done, total, `${done}/${total} chunks`);
        else line.note(`${formatCount(done)} chunks`);
      },
    });
  } finally {
    line.end();
  }
}
