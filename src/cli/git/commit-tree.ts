/** The files of a commit. */
import { CliError } from "../exit-codes.ts";
import { git, GitCommandError, splitNul } from "./command.ts";
import { gitDamaged, type GitObject, readObjects, readSizes, ROOT_TREE, tryObjects } from "./objects.ts";
import { encodingOf, pathOfText } from "./paths.ts";

/** Mode of a folder in a tree. */
const FOLDER = 0o040000;
/** Mode of a submodule: its id names a commit of another repository. */
const SUBMODULE = 0o160000;
/** Entries of damaged clones that are read: trees that hold one another many times have more than fit into memory. */
const MAX_ENTRIES = 2_000_000;

export interface GitEntry {
  /** Of the file in the tree: 0o100644, 0o100755, 0o120000 (link), 0o160000 (submodule). */
  mode: number;
  oid: string;
  /** 0 where git does not know it. */
  sizeBytes: number;
  path: string;
}

/**
 * Lists every file of a commit, including submodules. Git does not check the trees that it lists, so they are read and checked here:
 * the index of a repository is shared by its clones, and another clone must not decide what a commit contains.
 */
export async function listTree(cwd: string, commit: string): Promise<GitEntry[]> {
  const output = await git(cwd, ["ls-tree", "-r", "-t", "-z", "-l", "--full-tree", commit]);
  const encoding = encodingOf(output);
  const entries = splitNul(output, encoding).map((line) => {
    const tab = line.indexOf("\t");
    const [mode = "", , oid = "", size = "0"] = line.slice(0, tab).split(/ +/);
    return {
      mode: parseInt(mode, 8),
      oid,
      sizeBytes: Number(size) || 0,
      path: pathOfText(line.slice(tab + 1), encoding),
    };
  });
  const folders = new Set(entries.flatMap(({ mode, oid }) => (mode === FOLDER ? [oid] : [])));
  let root: string | undefined;
  // Reading them is the check.
  for await (const object of readObjects(cwd, [commit, `${commit}${ROOT_TREE}`, ...folders])) {
    const { name, oid, type } = object;
    if (name === commit) root = rootOf(object);
    else if (type !== "tree" || (name.endsWith(ROOT_TREE) && oid !== root)) throw gitDamaged(`object ${oid}`);
  }
  return entries.filter(({ mode }) => mode !== FOLDER);
}

/** The files of a commit, as far as its folders can be read, and the other folders, with a `/` behind each. */
export interface ReadableTree {
  entries: GitEntry[];
  unread: string[];
}

/** As {@link listTree}, of a clone that may lack objects or have damaged ones. Throws if the commit itself cannot be read. */
export async function listReadableTree(cwd: string, commit: string): Promise<ReadableTree> {
  try {
    return { entries: await listTree(cwd, commit), unread: [] };
  } catch (error) {
    const hasStopped = error instanceof GitCommandError && !error.hung;
    const isDamaged = error instanceof CliError && error.code === "GIT_DAMAGED";
    if (!hasStopped && !isDamaged) throw error;
    return walkTree(cwd, commit);
  }
}

/** Reads the folders of a commit, all of one depth at a time: git itself lists nothing behind one that it does not have. */
async function walkTree(cwd: string, commit: string): Promise<ReadableTree> {
  // Paths have one character a byte until all names of them are known.
  let level: { oid: string; path: string }[] = [];
  for await (const object of readObjects(cwd, [commit])) level.push({ oid: rootOf(object) ?? "", path: "" });
  const files: GitEntry[] = [];
  const unread: string[] = [];
  for (let count = 0; level.length > 0;) {
    const next: typeof level = [];
    let at = 0;
    for await (const object of tryObjects(
      cwd,
      level.map(({ oid }) => oid),
    )) {
      const { path = "" } = level[at++] ?? {};
      if (!("bytes" in object) || object.type !== "tree") {
        unread.push(`${pathOfText(path.slice(0, -1), "latin1")}/`);
        continue;
      }
      for (const entry of entriesOf(object)) {
        if (++count > MAX_ENTRIES) throw gitDamaged(`the tree of ${commit}, which has no end,`);
        if (entry.mode === FOLDER) next.push({ oid: entry.oid, path: `${path}${entry.path}/` });
        else files.push({ ...entry, path: pathOfText(path + entry.path, "latin1"), sizeBytes: 0 });
      }
    }
    level = next;
  }
  const blobs = files.filter(({ mode }) => mode !== SUBMODULE);
  const sizes = await readSizes(cwd, [...new Set(blobs.map(({ oid }) => oid))]);
  for (const file of blobs) file.sizeBytes = sizes.get(file.oid) ?? 0;
  return { entries: files, unread };
}

/** The id of a commit's tree. Throws for an object that is no commit. */
function rootOf({ oid, type, bytes }: GitObject): string | undefined {
  if (type !== "commit") throw gitDamaged(`object ${oid}`);
  return /^tree ([0-9a-f]+)\n/.exec(Buffer.from(bytes).toString("latin1"))?.[1];
}

/** What a tree says of its entries: mode, a blank, name, NUL, id in bytes. Names have one character a byte. */
function* entriesOf({ oid, bytes }: GitObject): Generator<Omit<GitEntry, "sizeBytes">> {
  const tree = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const idBytes = oid.length / 2;
  for (let at = 0; at < tree.length;) {
    const nameAt = tree.indexOf(0x20, at) + 1;
    const end = tree.indexOf(0, nameAt);
    const next = end + 1 + idBytes;
    if (nameAt === 0 || end === -1 || next > tree.length) throw gitDamaged(`object ${oid}`);
    yield {
      mode: parseInt(tree.toString("latin1", at, nameAt - 1), 8),
      oid: tree.toString("hex", end + 1, next),
      path: tree.toString("latin1", nameAt, end),
    };
    at = next;
  }
}
