import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import type { SearchIndex } from "../../engines/search/search-index.ts";
import { type FileLines, unreadText } from "../../interface/questions/code-index.ts";
import { sha256 } from "../machine/checksum.ts";
import type { Context } from "../context.ts";
import { gitDamaged } from "../git/objects.ts";
import { git } from "../git/command.ts";
import { type CommitFile, parseCommit } from "../indexing/index-commit.ts";
import { intact } from "../indexing/schema.ts";
import type { IndexStore } from "../indexing/store.ts";
import { verified } from "../indexing/verified.ts";
import type { Project } from "../project.ts";
import { withWriter } from "../indexing/session.ts";
import { buildSearchTable, type IndexedFile, SegmentCollector } from "./build.ts";
import { type IndexedTree, type LocalIndex, openLocalIndex } from "./local-index.ts";
import { filesOfCommit } from "./reparse.ts";
import { SearchFolder } from "./search-folder.ts";
import { COMMIT_PREFIX, VERSIONS } from "./table-names.ts";

/**
 * Opens the search index of a commit, from git's objects: the work tree is neither read nor changed. What the commit shares with
 * what is indexed is not parsed again. A damaged index is rebuilt.
 */
export async function openCommitIndex(context: Context, project: Project, gitSha: string): Promise<LocalIndex> {
  const folder = new SearchFolder(project.directory);
  let unread: readonly string[] = [];
  const build = async ({ isDamaged }: { isDamaged: boolean }): Promise<string> => {
    if (isDamaged) context.ui.note("the search index was damaged and is rebuilt");
    await withWriter(context, project, "search --ref", async (store) => {
      // Any segment may be the damaged one; tables of other trees are made again when they are asked for.
      if (isDamaged) folder.clear();
      unread = await indexForSearch(context, project, store, gitSha);
    });
    return commitTable(gitSha, unread);
  };
  const whole = commitTable(gitSha);
  const table = folder.tableNames().includes(whole) ? whole : await build({ isDamaged: false });
  if (unread.length > 0) context.ui.warn(unreadText(unread));
  const tree: IndexedTree = {
    table,
    state: () => ({ gitSha, indexedAtMs: Date.now(), isWorkTree: false, stale: undefined, unread }),
    lines: (index, path, start, end) => linesOfCommit(project, gitSha, index, path, start, end),
    texts: async (enclosing) => (await import("../exact/open-texts.ts")).openCommitTexts(project, gitSha, enclosing),
    tooLarge: async () => (await import("./too-large.ts")).tooLargeFilesOfCommit(project.root, gitSha),
    rebuild: () => build({ isDamaged: true }),
  };
  return openLocalIndex(project, tree, { rebuild: true });
}

async function linesOfCommit(
  project: Project,
  gitSha: string,
  index: SearchIndex,
  path: string,
  start: number | undefined,
  end: number | undefined,
): Promise<FileLines | undefined> {
  const file = index.fileAt(0, path);
  if (file === undefined)
    return (await import("../exact/open-texts.ts")).searchedLinesOfCommit(project, gitSha, path, start, end);
  const { root } = project;
  const bytes = new Uint8Array(await git(root, ["cat-file", "blob", `${gitSha}:${path}`]));
  if (sha256(bytes).toString("hex") !== index.contentKey(file).sha256) throw gitDamaged(`${path} of ${gitSha}`);
  return (await import("./read-lines.ts")).linesOf(bytes, index.language(file), start, end);
}

/** Parses what is new in a commit, and writes its table. Returns the files and folders that git cannot read. */
async function indexForSearch(
  context: Context,
  project: Project,
  store: IndexStore,
  gitSha: string,
): Promise<readonly string[]> {
  const line = context.ui.progress("Indexing");
  const collector = new SegmentCollector(new SearchFolder(project.directory));
  try {
    const { files, unread } = await parseCommit(store, undefined, {
      root: project.root,
      commit: gitSha,
      parserVersion: PARSER_VERSION,
      isPartAllowed: true,
      stop: context.stop,
      abort: context.abort,
      onAnalysis: (analysis) => collector.add(analysis),
      onIndexProgress: ({ done, total }) => {
        context.onIndexing?.(done, total);
        line.update(done, total, `${done}/${total} files`);
      },
    });
    collector.finish();
    await writeCommitTable(store, project, gitSha, files, unread);
    return unread;
  } finally {
    line.end();
  }
}

/** Name of a commit's table. One that lacks files is not opened by a later command: git may have them by then. */
function commitTable(gitSha: string, unread: readonly string[] = []): string {
  return `${COMMIT_PREFIX}${gitSha}-${unread.length > 0 ? "part-" : ""}${VERSIONS}`;
}

/** Writes the table of a commit whose files are indexed, and the segments that it lacks; returns its name. Needs the write lock. */
export async function writeCommitTable(
  store: IndexStore,
  { directory, root }: Project,
  gitSha: string,
  files: readonly CommitFile[],
  unread: readonly string[] = [],
): Promise<string> {
  const find = store.prepare(
    `select id, lower(hex(sha256)) as sha256, language, base is not null as isInBase, ${intact("contents")} as intact
     from contents where id = ?`,
  );
  const indexed = files.map(({ path, contentId }): IndexedFile => {
    const row = verified<{ id: number; sha256: string; language: string; isInBase: number }>(find.get(contentId));
    return { path, content: { ...row, isInBase: row.isInBase === 1 } };
  });
  const name = commitTable(gitSha, unread);
  const read = filesOfCommit(root, new Map(files.map(({ path, oid }) => [path, oid])));
  await buildSearchTable(store, new SearchFolder(directory), { name, files: indexed, read });
  return name;
}
