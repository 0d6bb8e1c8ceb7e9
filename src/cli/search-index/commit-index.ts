import { SourceText } from "../../parsing/source-text.ts";
import { PARSER_VERSION } from "../../parsing/version.ts";
import { outlinesOf } from "../../retrieval/definitions.ts";
import { findSymbols, nearPaths, outlineOf } from "../../retrieval/lookups.ts";
import { findReferences } from "../../retrieval/references.ts";
import { search } from "../../retrieval/search.ts";
import { openIndex } from "../../retrieval/search-index.ts";
import { SearchFormatError } from "../../retrieval/types.ts";
import { sha256 } from "../checksum.ts";
import type { Context } from "../context.ts";
import { gitDamaged } from "../git.ts";
import { git } from "../git-command.ts";
import { FileTree } from "../index/file-tree.ts";
import { parseCommit } from "../index/index-commit.ts";
import { intact } from "../index/schema.ts";
import { IndexStore } from "../index/store.ts";
import { verified } from "../index/verified.ts";
import type { Project } from "../project.ts";
import { withWriter } from "../session.ts";
import { buildSearchTable, type IndexedFile } from "./build.ts";
import type { LocalIndex } from "./local-index.ts";
import { linesOf } from "./read-lines.ts";
import { type OpenFile, SearchFolder } from "./search-folder.ts";
import { COMMIT_PREFIX, VERSIONS } from "./table-names.ts";
import { storeTexts } from "./texts.ts";

/**
 * Opens the search index of a commit, from git's objects: the work tree is neither read nor changed. What the commit shares with
 * what is indexed is not parsed again.
 */
export async function openCommitIndex(context: Context, project: Project, gitSha: string): Promise<LocalIndex> {
  const folder = new SearchFolder(project.directory);
  const name = `${COMMIT_PREFIX}${gitSha}-p${PARSER_VERSION}-${VERSIONS}`;
  const build = (): Promise<void> =>
    withWriter(context, project, "search --ref", async (store) =>
      buildSearchTable(store, folder, name, await commitFiles(context, project, store, gitSha)),
    );
  if (!folder.tableNames().includes(name)) await build();
  try {
    return await open(project, folder, name, gitSha);
  } catch (error) {
    if (!(error instanceof SearchFormatError)) throw error;
    context.ui.note("the search index was damaged and is rebuilt");
    folder.removeTable(name);
    await build();
    return open(project, folder, name, gitSha);
  }
}

async function commitFiles(
  context: Context,
  project: Project,
  store: IndexStore,
  gitSha: string,
): Promise<IndexedFile[]> {
  const line = context.ui.progress("Indexing");
  try {
    const { files } = await parseCommit(store, undefined, {
      root: project.root,
      commit: gitSha,
      parserVersion: PARSER_VERSION,
      stop: context.stop,
      abort: context.abort,
      onIndexProgress: ({ done, total }) => line.update(done, total, `${done}/${total} files`),
    });
    const find = store.prepare(
      `select id, lower(hex(sha256)) as sha256, language, base is not null as isInBase, ${intact("contents")} as intact
       from contents where id = ?`,
    );
    return files.map(({ path, contentId }) => {
      const row = verified<{ id: number; sha256: string; language: string; isInBase: number }>(find.get(contentId));
      return { path, content: { ...row, isInBase: row.isInBase === 1 } };
    });
  } finally {
    line.end();
  }
}

async function open(project: Project, folder: SearchFolder, name: string, gitSha: string): Promise<LocalIndex> {
  const opened: OpenFile[] = [];
  const keep = (file: OpenFile | undefined): OpenFile => {
    if (!file) throw new SearchFormatError("a file of the search index is gone");
    opened.push(file);
    return file;
  };
  const close = (): void => {
    for (const file of opened) file.close();
  };
  try {
    const index = await openIndex([
      { table: keep(folder.openTable(name)), segment: (id) => keep(folder.openSegment(id)) },
    ]);
    const store = IndexStore.openForReading(project.directory, PARSER_VERSION);
    if (!store) throw new SearchFormatError("the local index is gone");
    const texts = storeTexts(store, new FileTree(project.root));
    const { fileCount, documentCount, digest } = index;
    return {
      info: {
        root: project.root,
        repo: project.repo ?? null,
        gitSha,
        fileCount,
        chunkCount: documentCount,
        indexedAtMs: Date.now(),
        digest,
        stale: undefined,
      },
      search: async (request) => search(index, request, texts),
      symbols: async (request) => findSymbols(index, request, texts),
      references: async (request) => findReferences(index, request, texts),
      outline: async (path) => outlineOf(index, 0, path, texts),
      readFile: async (path, start, end) => {
        const file = index.fileAt(0, path);
        if (file === undefined) return undefined;
        const bytes = new Uint8Array(await git(project.root, ["cat-file", "blob", `${gitSha}:${path}`]));
        if (sha256(bytes).toString("hex") !== index.contentKey(file).sha256) throw gitDamaged(`${path} of ${gitSha}`);
        const source = new SourceText(bytes);
        const [outline] = await outlinesOf(index, [{ file }]);
        return linesOf(source, outline?.chunks ?? [], { path, language: index.language(file) }, start, end);
      },
      nearPaths: (path) => nearPaths(index, 0, path),
      close: () => {
        close();
        store.close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
