import { analyzeContent } from "../../engines/search/analyze.ts";
import { inMemory } from "../../engines/search/bytes.ts";
import { changeTable, moveContents } from "../../engines/search/change-table.ts";
import { planMerge } from "../../engines/search/merge-policy.ts";
import { Segment } from "../../engines/search/segment.ts";
import { mergeSegments } from "../../engines/search/segment-merge.ts";
import { buildSegment } from "../../engines/search/segment-writer.ts";
import { buildTable, type OpenSegment, RevisionTable, type WrittenTable } from "../../engines/search/table.ts";
import { SearchFormatError, type RevisionFile } from "../../engines/search/types.ts";
import type { IndexStore } from "../indexing/store.ts";
import { readContents } from "./contents.ts";
import { type PlacedContent, type ReadFiles, reparse } from "./reparse.ts";
import type { OpenFile, SearchFolder } from "./search-folder.ts";
import { stateName } from "./state-name.ts";
import { COMMIT_PREFIX, treePrefix, VERSIONS } from "./table-names.ts";

/**
 * Analyses collected for one segment, in bytes: about 8,500 chunks. Building a segment takes four times as much in large buffers, of which
 * malloc keeps most. With twice as much the first index of 61,000 chunks takes 291 MB instead of 249 to 265.
 */
const MAX_ANALYSIS_BYTES = 4 * 1024 * 1024;
/** Number of commit tables that are kept; the oldest are removed. */
const KEPT_COMMITS = 20;

export type IndexedFile = PlacedContent;

/**
 * Writes the table `name` over `files`, with the segments it needs: those there are, one over what they lack, and merged ones if there are
 * too many. `read` reads the files. Removes what no table names any more. Needs the write lock.
 */
export async function buildSearchTable(
  store: IndexStore,
  folder: SearchFolder,
  { name, files, read }: { name: string; files: readonly IndexedFile[]; read: ReadFiles },
): Promise<void> {
  folder.removeLeftovers();
  const opened: OpenFile[] = [];
  let kept: string[];
  try {
    const segments = await segmentsOver(store, folder, { files, read }, opened);
    const revision = files.map(({ path, content }): RevisionFile => {
      const { sha256, language } = content;
      return { path, sha256, language };
    });
    kept = await writeMerged(folder, name, buildTable(revision, segments), segments);
  } finally {
    for (const file of opened) file.close();
  }
  await collectGarbage(store, folder, { name, segmentIds: kept });
}

/**
 * Writes the table `name` of a work tree, of which the files at the paths `changed` may be others, new or gone since the table `earlier` was
 * written; `files` are those of them that are indexed, which `read` reads. The work grows with the changes, besides a few bytes for each path.
 * False if the table must be built: the earlier table is gone or damaged. Needs the write lock.
 */
export async function changeSearchTable(
  store: IndexStore,
  folder: SearchFolder,
  name: string,
  {
    earlier,
    changed,
    files,
    read,
  }: { earlier: string; changed: readonly string[]; files: readonly IndexedFile[]; read: ReadFiles },
): Promise<boolean> {
  folder.removeLeftovers();
  const opened: OpenFile[] = [];
  let kept: string[];
  try {
    const bytes = folder.openTable(earlier);
    if (bytes === undefined) return false;
    opened.push(bytes);
    const segments = await segmentsOver(store, folder, { files, read }, opened);
    const changes = new Map<string, RevisionFile | undefined>(changed.map((path) => [path, undefined]));
    for (const { path, content } of files) changes.set(path, { path, ...content });
    const written = await changeTable(bytes, changes, segments);
    if (written === undefined) return false;
    kept = await writeMerged(folder, name, written, segments);
  } catch (error) {
    if (error instanceof SearchFormatError) return false;
    throw error;
  } finally {
    for (const file of opened) file.close();
  }
  await collectGarbage(store, folder, { name, segmentIds: kept });
  return true;
}

/** Segments that hold the contents of files: those there are, and one over what they lack, as of a file that is as it was in an earlier state. */
async function segmentsOver(
  store: IndexStore,
  folder: SearchFolder,
  { files, read }: { files: readonly IndexedFile[]; read: ReadFiles },
  opened: OpenFile[],
): Promise<OpenSegment[]> {
  const segments = await openSegments(folder, opened);
  const missing = missingContents(files, segments);
  if (missing.length === 0) return segments;
  const collector = new SegmentCollector(folder);
  const stored = await reparse(read, missing, (analysis) => collector.add(analysis));
  for await (const content of readContents(store, stored)) collector.add(analyzeContent(content));
  collector.finish();
  return openSegments(folder, opened);
}

/** Segments that may be used and can be read, the largest last: of those that hold a content the last is taken, so a table names few. Damaged ones are removed. */
async function openSegments(folder: SearchFolder, opened: OpenFile[]): Promise<OpenSegment[]> {
  const segments: OpenSegment[] = [];
  for (const id of folder.usableSegmentIds()) {
    const file = folder.openSegment(id);
    if (!file) continue;
    opened.push(file);
    try {
      segments.push({ id, segment: await Segment.open(file) });
    } catch (error) {
      if (!(error instanceof SearchFormatError)) throw error;
      folder.removeSegment(id);
    }
  }
  return segments.sort((a, b) => a.segment.chunkCount - b.segment.chunkCount);
}

function missingContents(files: readonly IndexedFile[], segments: readonly OpenSegment[]): IndexedFile[] {
  const missing = new Map<number, IndexedFile>();
  for (const file of files) {
    const { content } = file;
    if (!missing.has(content.id) && segments.every(({ segment }) => segment.find(content) < 0))
      missing.set(content.id, file);
  }
  return [...missing.values()];
}

/** Writes segments over contents as their analyses come. Needs the write lock. Call `finish` at the end. */
export class SegmentCollector {
  readonly #folder: SearchFolder;
  #analyses: Uint8Array[] = [];
  #byteLength = 0;

  constructor(folder: SearchFolder) {
    this.#folder = folder;
  }

  add(analysis: Uint8Array): void {
    this.#analyses.push(analysis);
    this.#byteLength += analysis.length;
    if (this.#byteLength >= MAX_ANALYSIS_BYTES) this.finish();
  }

  /** Writes what is left. */
  finish(): void {
    if (this.#analyses.length > 0) this.#folder.writeSegment(buildSegment(this.#analyses));
    this.#analyses = [];
    this.#byteLength = 0;
  }
}

/** The segments of a table, the ordinals of each that it names (1 at their positions), and which of them the policy merges. */
function planOfMerge(
  { segmentIds, segmentOf, ordinalOf }: WrittenTable,
  segments: readonly OpenSegment[],
): { used: OpenSegment[]; live: Uint8Array[]; chosen: Set<string> } {
  const used = segmentIds.map((id) => segments.find((segment) => segment.id === id) as OpenSegment);
  const live = used.map(({ segment }) => new Uint8Array(segment.contentCount));
  for (let file = 0; file < segmentOf.length; file++)
    (live[segmentOf[file] as number] as Uint8Array)[ordinalOf[file] as number] = 1;
  const uses = used.map(({ id, segment: { chunkCount, contentCount, firstChunks } }, i) => {
    let liveChunkCount = 0;
    for (let ordinal = 0; ordinal < contentCount; ordinal++)
      if (live[i]?.[ordinal] === 1)
        liveChunkCount += (firstChunks[ordinal + 1] as number) - (firstChunks[ordinal] as number);
    return { id, chunkCount, liveChunkCount };
  });
  return { used, live, chosen: new Set(planMerge(uses)) };
}

/** Writes a table, after those of its segments are merged that the policy names. The ids of its segments. */
async function writeMerged(
  folder: SearchFolder,
  name: string,
  written: WrittenTable,
  segments: readonly OpenSegment[],
): Promise<string[]> {
  const { used, live, chosen } = planOfMerge(written, segments);
  if (chosen.size === 0) {
    folder.writeTable(name, written.table);
    return written.segmentIds;
  }
  const positions = used.flatMap(({ id }, i) => (chosen.has(id) ? [i] : []));
  const parts = positions.map((i) => (used[i] as OpenSegment).segment);
  const isLive = (part: number, ordinal: number): boolean => live[positions[part] as number]?.[ordinal] === 1;
  const id = folder.writeSegment(await mergeSegments(parts, isLive));
  const file = folder.openSegment(id) as OpenFile;
  try {
    const merged = { id, segment: await Segment.open(file) };
    const moved = await moveContents(inMemory(written.table), chosen, [...used, merged]);
    folder.writeTable(name, moved.table);
    return moved.segmentIds;
  } finally {
    file.close();
  }
}

interface WorkTree {
  id: number;
  root: string;
  indexed_at: number;
}

/** Removes tables of work trees and commits that are gone, and segments that no table names. */
async function collectGarbage(
  store: IndexStore,
  folder: SearchFolder,
  written: { name: string; segmentIds: readonly string[] },
): Promise<void> {
  const roots = store.prepare("select id, root, indexed_at from worktrees").all() as unknown as WorkTree[];
  const current = new Set(roots.map(({ id, indexed_at }) => `${treePrefix(id)}${indexed_at}-`));
  const commits = folder.tableNames().filter((name) => name.startsWith(COMMIT_PREFIX));
  const keptCommits = new Set([...commits.filter((name) => name !== written.name).slice(-KEPT_COMMITS), written.name]);
  const named = new Set(written.segmentIds);
  for (const name of folder.tableNames()) {
    const isCurrent = [...current].some((prefix) => name.startsWith(prefix)) || keptCommits.has(name);
    if (name === written.name) continue;
    if (!name.endsWith(VERSIONS) || !isCurrent || !(await addSegmentIds(folder, name, named))) folder.removeTable(name);
  }
  for (const id of folder.segmentIds()) if (!named.has(id)) folder.removeSegment(id);
  const states = new Set(roots.map(({ root }) => stateName(root)));
  for (const name of folder.stateNames()) if (!states.has(name)) folder.removeState(name);
}

/** False if the table is damaged. */
async function addSegmentIds(folder: SearchFolder, name: string, into: Set<string>): Promise<boolean> {
  const file = folder.openTable(name);
  if (!file) return false;
  try {
    for (const id of (await RevisionTable.open(file)).segmentIds) into.add(id);
    return true;
  } catch (error) {
    if (error instanceof SearchFormatError) return false;
    throw error;
  } finally {
    file.close();
  }
}
