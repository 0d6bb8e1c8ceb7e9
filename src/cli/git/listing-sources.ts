import { readFileSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type FileStat, isRacy, stampOf } from "../indexing/file-stat.ts";
import type { FileTree } from "../indexing/file-tree.ts";
import type { Environment } from "../machine/paths.ts";
import { settingsFolder } from "../machine/paths.ts";
import { textHash } from "../machine/checksum.ts";
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
/** Settings that no list of files depends on. Git and people write them often. */
const OTHER_SETTINGS = /^(?:alias|author|branch|committer|pull|push|remote|user)\./;

/** Whether folders' times tell what is in them. */
export function tracksFolders(root: string): boolean {
  return process.platform === "linux" && LOCAL_FILE_SYSTEMS.has(statfsSync(root).type);
}

/** What the environment says of where git's configuration is; undefined if it says more than where the user's is. */
export function settingsOf(env: Environment): { home: string; ofUser: string } | undefined {
  if (steeringVariables().length > 0) return undefined;
  return { home: settingsFolder(env, "home"), ofUser: join(settingsFolder(env, "xdg-config"), "git") };
}

/** What git's list of files depends on outside of the tree's folders. The files may be there or not. */
export interface Sources {
  index: string;
  /** Files with git's configuration. */
  configs: string[];
  /** Digest of the settings in them that the list may depend on. */
  configuration: string;
  /** Files with rules of what is ignored. */
  rules: string[];
}

/** The files outside of the tree's folders that git's list of files depends on; undefined if they are not all known. */
export async function findSources(
  { root, gitDir, commonDir }: WorkTree,
  { home, ofUser }: { home: string; ofUser: string },
): Promise<Sources | undefined> {
  const [listed, excludes] = await Promise.all([
    gitList(root, ["config", "-z", "--list", "--show-origin"]),
    gitLine(root, ["config", "--type=path", "--get", "core.excludesFile"]),
  ]);
  // Git has settings of the command line at least, unless it fails.
  if (listed.length === 0) return undefined;
  // The origin of each setting stands before it.
  const origins = listed.filter((text, i) => i % 2 === 0 && text.startsWith(ORIGIN));
  const settings = listed.filter((text, i) => i % 2 === 1 && !OTHER_SETTINGS.test(text));
  const found = [...new Set(origins)].map((origin) => origin.slice(ORIGIN.length));
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
    configs: unique,
    configuration: textHash(settings.join("\0")),
    rules: [join(commonDir, "info/exclude"), excludes ?? join(ofUser, "ignore")],
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
