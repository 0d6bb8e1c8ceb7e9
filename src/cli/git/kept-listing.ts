import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findSorted } from "../../engines/search/order.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { inBackground } from "../background.ts";
import { noteIdentity } from "../indexing/identity.ts";
import { stateName } from "../local-index/state-name.ts";
import { decodeChecked, encodeChecked } from "../machine/checked-file.ts";
import { makeFolder } from "../machine/folders.ts";
import type { Environment } from "../machine/paths.ts";
import { replaceFile } from "../machine/replace-file.ts";
import { type ChangedFiles, listChanges } from "./changed-listing.ts";
import { type FileListing, type GitFiles, gitFiles, listingOf, type WorkTree } from "./git.ts";
import { findSources, settingsOf, type Sources, stampInTree, stampOfSource, tracksFolders } from "./listing-sources.ts";
import {
  compareFolders,
  type ComparedFolders,
  describeFolders,
  FOLDER_NUMBERS,
  type FolderStates,
} from "./watched-folders.ts";

/** Raised with every change of the format. */
const VERSION = "4";
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
  untrackedBytes: number;
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
  /** Of the files, with a NUL between, and those of them that git does not track. */
  paths: Buffer;
  untracked: Buffer;
  folders: FolderStates;
}

/** A work tree, and where its list is kept. */
interface ListedTree extends WorkTree {
  directory: string;
  identity: string;
}

/** A list that is being made. */
export interface ListedFiles {
  listing: Promise<FileListing>;
  /** Whether git's index or names in the folders are known to be others than those of the last list. */
  hasChanged: () => boolean;
}

/** Begins to list the files of a work tree, see {@link listWithMemory}. */
export function beginListing(tree: ListedTree, env: Environment): ListedFiles {
  let isChanged = false;
  const listing = inBackground(listWithMemory(tree, env, () => (isChanged = true)));
  return { listing, hasChanged: () => isChanged };
}

/**
 * Lists the files of a work tree as git does. The last list is taken as long as nothing has changed that git makes it from: the index, the
 * configuration, the rules of what is ignored, and the names in the folders, which their times tell. That takes one `lstat` for each
 * folder; git takes 50 ms for 4,800 files, and starting it as long again. Where the index or names have changed, `onChange` is called and git
 * is asked about these.
 */
export async function listWithMemory(
  tree: ListedTree,
  env: Environment,
  onChange: () => void = () => undefined,
): Promise<FileListing> {
  // What is found unchanged below was so at this time or later.
  const startedAtMs = Date.now();
  const files = new FileTree(tree.root);
  const last = readKept(tree);
  const kept = last && hasSameRules(last.header, env, files) ? await withConfigs(tree, last, startedAtMs) : undefined;
  if (!kept) return listAnew(tree, env, files, startedAtMs);
  const [index, stamp] = kept.header.index;
  const now = stampOfSource(index);
  const found = compareFolders(files, kept.folders, startedAtMs);
  if (now !== stamp || found.changed.size > 0) {
    onChange();
    const before = { files: { paths: split(kept.paths), untracked: split(kept.untracked) }, folders: kept.folders };
    const changed = await listChanges(files, before, found.changed, now === stamp);
    // Git has read the index more than once.
    const isOneIndex = stampOfSource(index) === now;
    return listAnew(tree, env, files, startedAtMs, { kept, found, changed: isOneIndex ? changed : undefined });
  }
  if (found.isRenewed || kept !== last) write(tree, kept);
  return { ...listingOf(kept.paths, { digest: kept.header.digest }), tree: files };
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

/** What is known of the folders, by rules that are the same, and of the files. */
interface Known {
  kept: KeptListing;
  found: ComparedFolders;
  /** The whole list. */
  changed: ChangedFiles | undefined;
}

/** Keeps a list that begins at `startedAtMs`, for which git is asked unless it is known. */
async function listAnew(
  tree: ListedTree,
  env: Environment,
  files: FileTree,
  startedAtMs: number,
  known?: Known,
): Promise<FileListing> {
  const listed = known?.changed ?? (await gitFiles(tree.root, [":/"]));
  const paths = Buffer.from(listed.paths.join(SEPARATOR));
  const listing = listingOf(paths, { paths: listed.paths });
  try {
    const { digest } = listing;
    const kept = await describe(tree, env, files, { startedAtMs, listed, paths, digest }, known);
    if (kept) write(tree, kept);
  } catch {
    // A folder that git refuses costs time, not the answer.
  }
  return listing;
}

async function describe(
  tree: ListedTree,
  env: Environment,
  files: FileTree,
  { startedAtMs, listed, paths, digest }: { startedAtMs: number; listed: GitFiles; paths: Buffer; digest: string },
  last: Known | undefined,
): Promise<KeptListing | undefined> {
  const settings = settingsOf(env);
  if (!settings || !tracksFolders(tree.root)) return undefined;
  // By the same rules they are the same.
  const sources = last ? sourcesOf(last.kept) : await findSources(tree, settings);
  if (!sources) return undefined;
  // The folder of a repository that is none any more was not looked into.
  const isUsable = last?.kept.header.repositories.every((path) => findSorted(listed.paths, path) !== -1) === true;
  const before = isUsable
    ? { states: last.kept.folders, changed: last.found.changed, added: last.changed?.added }
    : undefined;
  const folders = await describeFolders(files, listed.paths, startedAtMs, before);
  if (!folders) return undefined;
  const stamped = (file: string): Stamped => stampedSource(file, startedAtMs);
  const untracked = Buffer.from(listed.untracked.join(SEPARATOR));
  const configs = sources.configs.map(stamped);
  // A setting that changed while git listed may be in the digest and not in the list.
  const isSettled = configs.every(([, stamp]) => stamp !== UNSETTLED);
  const header: Header = {
    version: VERSION,
    digest,
    settings,
    pathsBytes: paths.length,
    untrackedBytes: untracked.length,
    folderCount: folders.paths.length,
    index: stamped(sources.index),
    configs,
    rules: sources.rules.map(stamped),
    configuration: isSettled ? sources.configuration : UNSETTLED,
    ignoreFiles: folders.ignoreFiles.map((path) => [path, stampInTree(files, path, startedAtMs) ?? UNSETTLED]),
    repositories: [...folders.repositories],
  };
  return { header, paths, untracked, folders };
}

function sourcesOf({ header }: KeptListing): Sources {
  const { index, configs, rules, configuration } = header;
  return { index: index[0], configs: configs.map(([file]) => file), rules: rules.map(([file]) => file), configuration };
}

const split = (paths: Buffer): string[] => (paths.length === 0 ? [] : paths.toString("utf8").split(SEPARATOR));

const fileOf = ({ directory, root }: ListedTree): string => join(directory, FOLDER, `${stateName(root)}.listing`);

function write(tree: ListedTree, { header, paths, untracked, folders }: KeptListing): void {
  const numbers = new Uint8Array(folders.numbers.buffer);
  try {
    makeFolder(join(tree.directory, FOLDER));
    noteIdentity(tree);
    const bytes = encodeChecked(header, [numbers, paths, untracked, Buffer.from(folders.paths.join(SEPARATOR))]);
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
  const untrackedAt = pathsAt + header.pathsBytes;
  const foldersAt = untrackedAt + header.untrackedBytes;
  return {
    header,
    paths: bytes.subarray(pathsAt, untrackedAt),
    untracked: bytes.subarray(untrackedAt, foldersAt),
    folders: {
      paths: bytes.toString("utf8", foldersAt).split(SEPARATOR),
      numbers: new Float64Array(new Uint8Array(bytes.subarray(bodyAt, pathsAt)).buffer),
      ignoreFiles: header.ignoreFiles.map(([path]) => path),
      repositories: header.repositories,
    },
  };
}
