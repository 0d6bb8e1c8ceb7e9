import { readFileSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type FileStat, isRacy, stampOf } from "../indexing/file-stat.ts";
import type { FileTree } from "../indexing/file-tree.ts";
import type { Environment } from "../machine/paths.ts";
import { settingsFolder } from "../machine/paths.ts";
import { gitLine, gitList, steeringVariables } from "./command.ts";
import type { WorkTree } from "./git.ts";

/**
 * File systems of this machine, where a folder's times change with each name in it: ext2 to ext4, XFS, Btrfs, ZFS, F2FS, tmpfs and overlays
 * of them. Not known of network and FUSE file systems, nor by number of those of other systems than Linux.
 */
const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0x01021994, 0x794c7630,
]);

/** Where git may have its configuration of the whole system. Any other place is found while there is a file. */
const SYSTEM_CONFIGS = ["/etc/gitconfig", "/usr/local/etc/gitconfig"];
/** Sections of a configuration that name files. */
const INCLUDES = /^[ \t]*\[[ \t]*include/im;
const ORIGIN = "file:";

/** Whether folders' times tell what is in them. */
export function tracksFolders(root: string): boolean {
  return process.platform === "linux" && LOCAL_FILE_SYSTEMS.has(statfsSync(root).type);
}

/** What the environment says of where git's configuration is; undefined if it says more than where the user's is. */
export function settingsOf(env: Environment): { home: string; ofUser: string } | undefined {
  if (steeringVariables().length > 0) return undefined;
  return { home: settingsFolder(env, "home"), ofUser: join(settingsFolder(env, "xdg-config"), "git") };
}

/** The files outside of the tree's folders that git's list of files depends on, there or not; undefined if they are not all known. */
export async function findSources(
  { root, gitDir, commonDir }: WorkTree,
  { home, ofUser }: { home: string; ofUser: string },
): Promise<{ index: string; rules: string[] } | undefined> {
  const [origins, excludes] = await Promise.all([
    gitList(root, ["config", "-z", "--list", "--show-origin", "--name-only"]),
    gitLine(root, ["config", "--type=path", "--get", "core.excludesFile"]),
  ]);
  const found = origins.filter((origin) => origin.startsWith(ORIGIN)).map((origin) => origin.slice(ORIGIN.length));
  const configs = [
    join(commonDir, "config"),
    join(gitDir, "config.worktree"),
    join(home, ".gitconfig"),
    join(ofUser, "config"),
    ...SYSTEM_CONFIGS,
    ...found.map((file) => (file.startsWith("/") ? file : join(root, file))),
  ];
  const unique = [...new Set(configs)];
  if (unique.some((file) => INCLUDES.test(textOf(file)))) return undefined;
  return {
    index: join(gitDir, "index"),
    rules: [...unique, join(commonDir, "info/exclude"), excludes ?? join(ofUser, "ignore")],
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}

/** The state of a file, through links; empty if there is none, undefined if it may change again without a trace. */
export function stampOfSource(file: string, nowMs = Infinity): string | undefined {
  try {
    return settled(statSync(file, { throwIfNoEntry: false }), nowMs);
  } catch {
    return undefined;
  }
}

/** As {@link stampOfSource}, of a file in the tree, of which git follows no link. */
export function stampInTree(tree: FileTree, path: string, nowMs = Infinity): string | undefined {
  return settled(tree.lstat(path), nowMs);
}

function settled(stat: FileStat | undefined, nowMs: number): string | undefined {
  if (stat === undefined) return "";
  return isRacy(stat, nowMs) ? undefined : stampOf(stat);
}
