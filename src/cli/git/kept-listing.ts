import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findSorted } from "../../engines/search/order.ts";
import { inBackground } from "../background.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { noteIdentity } from "../indexing/identity.ts";
import { stateName } from "../local-index/state-name.ts";
import { decodeChecked, encodeChecked } from "../machine/checked-file.ts";
import { makeFolder } from "../machine/folders.ts";
import type { Environment } from "../machine/paths.ts";
import { replaceFile } from "../machine/replace-file.ts";
import { type FileListing, listingOf, listWorkTreeFiles, type WorkTree } from "./git.ts";
import { findSources, settingsOf, type Sources, stampInTree, stampOfSource, tracksFolders } from "./listing-sources.ts";
import {
  compareFolders,
  type ComparedFolders,
  describeFolders,
  FOLDER_NUMBERS,
  type FolderStates,
} from "./watched-folders.ts";

/** Raised with every change of the format. */
const VERSION = "3";
/** No state of a file. */
const UNSETTLED = "?";
const SEPARATOR = "\0";
const FOLDER = "texts";

type Stamped = [path: string, stamp: string];

interface Header {
  version: string;
  digest: string;
  /** Folders of the user's configuration. */
  settings: { home: string; ofUser: string };
  pathsBytes: number;
  folderCount: number;
  /** Git's index, and the files with its configuration and rules of what is ignored, with their states. */
  index: Stamped;
  configs: Stamped[];
  rules: Stamped[];
  /** As {@link Sources} has it; {@link UNSETTLED} if it may not be that of the list. */
  configuration: string;
  /** The `.gitignore` in the tree. */
  ignoreFiles: Stamped[];
  /** Paths of the repositories that the list has as one path each. */
  repositories: string[];
}

/** A list of files that git has made, with all that it depends on. */
interface KeptListing {
  header: Header;
  paths: Buffer;
  folders: FolderStates;
}

/** A work tree, and where its list is kept. */
interface ListedTree extends WorkTree {
  directory: string;
  identity: string;
}

/** A list that git has been asked for. */
interface AskedFiles {
  startedAtMs: number;
  listing: Promise<FileListing>;
}

/**
 * Lists the files of a work tree as git does. The last list is taken as long as nothing has changed that git makes it from: the index, the
 * configuration, the rules of what is ignored, and the names in the folders, which their times tell. That takes one `lstat` for each
 * folder; git takes 50 ms for 4,800 files, and starting it as long again.
 */
export async function listWithMemory(tree: ListedTree, env: Environment): Promise<FileListing> {
  // What is found unchanged below was so at this time or later.
  const startedAtMs = Date.now();
  let asked: AskedFiles | undefined;
  const ask = () => (asked ??= { startedAtMs, listing: inBackground(listWorkTreeFiles(tree.root)) });
  const files = new FileTree(tree.root);
  const last = readKept(tree);
  const kept = last && hasSameRules(last.header, env, files) ? await withConfigs(tree, last, startedAtMs) : undefined;
  if (!kept) return listAnew(tree, env, files, ask());
  const [index, stamp] = kept.header.index;
  const isSameIndex = stampOfSource(index) === stamp;
  if (!isSameIndex) ask();
  const found = compareFolders(files, kept.folders, startedAtMs, ask);
  if (!isSameIndex || found.changed.size > 0) return listAnew(tree, env, files, ask(), { kept, found });
  if (found.isRenewed || kept !== last) write(tree, kept);
  return { ...listingOf(kept.paths, () => kept.header.digest), tree: files };
}

function hasSameRules({ settings, rules, ignoreFiles }: Header, env: Environment, files: FileTree): boolean {
  const now = settingsOf(env);
  return (
    now?.home === settings.home &&
    now.ofUser === settings.ofUser &&
    rules.every(([file, stamp]) => stampOfSource(file) === stamp) &&
    ignoreFiles.every(([path, stamp]) => stampInTree(files, path) === stamp)
  );
}

/**
 * The same list, with the present states of git's configuration. Where these have changed, git is asked for the settings, of which most have
 * nothing to do with the list. Undefined if the list may depend on those that are others.
 */
async function withConfigs(tree: ListedTree, kept: KeptListing, startedAtMs: number): Promise<KeptListing | undefined> {
  const { configs, settings } = kept.header;
  if (configs.every(([file, stamp]) => stampOfSource(file) === stamp)) return kept;
  // Taken before git reads the files: what changes later is seen by the next run.
  const states = configs.map(([file]) => stampedSource(file, startedAtMs));
  const isSame = isDeepStrictEqual(await findSources(tree, settings), sourcesOf(kept));
  return isSame ? { ...kept, header: { ...kept.header, configs: states } } : undefined;
}

const stampedSource = (file: string, nowMs: number): Stamped => [file, stampOfSource(file, nowMs) ?? UNSETTLED];

/** Waits for git's list, and keeps it. `last`: what is known of the folders, by rules that are the same. */
async function listAnew(
  tree: ListedTree,
  env: Environment,
  files: FileTree,
  { startedAtMs, listing }: AskedFiles,
  last?: { kept: KeptListing; found: ComparedFolders },
): Promise<FileListing> {
  const listed = await listing;
  try {
    const kept = await describe(tree, env, files, { startedAtMs, listed }, last);
    if (kept) write(tree, kept);
  } catch {
    // A folder that git refuses costs time, not the answer.
  }
  return listed;
}

async function describe(
  tree: ListedTree,
  env: Environment,
  files: FileTree,
  { startedAtMs, listed }: { startedAtMs: number; listed: FileListing },
  last?: { kept: KeptListing; found: ComparedFolders },
): Promise<KeptListing | undefined> {
  const settings = settingsOf(env);
  if (!settings || !tracksFolders(tree.root)) return undefined;
  // By the same rules they are the same.
  const sources = last ? sourcesOf(last.kept) : await findSources(tree, settings);
  if (!sources) return undefined;
  const paths = listed.paths();
  // The folder of a repository that is none any more was not looked into.
  const isUsable = last?.kept.header.repositories.every((path) => findSorted(paths, path) !== -1) === true;
  const before = isUsable ? { states: last.kept.folders, changed: last.found.changed } : undefined;
  const folders = await describeFolders(files, paths, startedAtMs, before);
  if (!folders) return undefined;
  const stamped = (file: string): Stamped => stampedSource(file, startedAtMs);
  const sorted = Buffer.from(paths.join(SEPARATOR));
  const configs = sources.configs.map(stamped);
  // A setting that changed while git listed may be in the digest and not in the list.
  const isSettled = configs.every(([, stamp]) => stamp !== UNSETTLED);
  const header: Header = {
    version: VERSION,
    digest: listed.digest,
    settings,
    pathsBytes: sorted.length,
    folderCount: folders.paths.length,
    index: stamped(sources.index),
    configs,
    rules: sources.rules.map(stamped),
    configuration: isSettled ? sources.configuration : UNSETTLED,
    ignoreFiles: folders.ignoreFiles.map((path) => [path, stampInTree(files, path, startedAtMs) ?? UNSETTLED]),
    repositories: [...folders.repositories],
  };
  return { header, paths: sorted, folders };
}

function sourcesOf({ header }: KeptListing): Sources {
  const { index, configs, rules, configuration } = header;
  return { index: index[0], configs: configs.map(([file]) => file), rules: rules.map(([file]) => file), configuration };
}

const fileOf = ({ directory, root }: ListedTree): string => join(directory, FOLDER, `${stateName(root)}.listing`);

function write(tree: ListedTree, { header, paths, folders }: KeptListing): void {
  const numbers = new Uint8Array(folders.numbers.buffer);
  try {
    makeFolder(join(tree.directory, FOLDER));
    noteIdentity(tree);
    const bytes = encodeChecked(header, [numbers, paths, Buffer.from(folders.paths.join(SEPARATOR))]);
    replaceFile(fileOf(tree), bytes, 0o600);
  } catch {
    // A full or read-only disk costs time, not the answer.
  }
}

function readKept(tree: ListedTree): KeptListing | undefined {
  let bytes: Buffer<ArrayBuffer>;
  try {
    bytes = readFileSync(fileOf(tree));
  } catch {
    return undefined;
  }
  const file = decodeChecked<Header>(bytes, { version: VERSION });
  if (!file) return undefined;
  const { header, bodyAt } = file;
  const pathsAt = bodyAt + header.folderCount * FOLDER_NUMBERS * Float64Array.BYTES_PER_ELEMENT;
  const foldersAt = pathsAt + header.pathsBytes;
  return {
    header,
    paths: bytes.subarray(pathsAt, foldersAt),
    folders: {
      paths: bytes.toString("utf8", foldersAt).split(SEPARATOR),
      numbers: new Float64Array(new Uint8Array(bytes.subarray(bodyAt, pathsAt)).buffer),
      ignoreFiles: header.ignoreFiles.map(([path]) => path),
      repositories: header.repositories,
    },
  };
}
