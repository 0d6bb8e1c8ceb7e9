import { basename } from "node:path";
import type { IndexInfo, OpenIndexes } from "../../interface/questions/code-index.ts";
import { submodulesOf } from "../submodules.ts";
import { stateOf } from "./local-search.ts";
import type { LocalIndex } from "./local-index.ts";

/** A local index, with what `--json` says of its state. */
export type LocalInfo = IndexInfo & { state: ReturnType<typeof stateOf> };

/** A local index, as questions are asked of it. */
export function openIndexes(index: LocalIndex): OpenIndexes<LocalInfo> {
  const inFirst = <T>(found: T | undefined) => found && { ...found, revision: 0 };
  return {
    indexes: [infoOf(index)],
    root: index.info.root.replaceAll("\\", "/"),
    digest: () => Promise.resolve(index.info.digest),
    search: (request) => index.search(request),
    symbols: (request) => index.symbols(request),
    references: (request) => index.references(request),
    outline: async (path) => inFirst(await index.outline(path)),
    file: async (path, start, end) => inFirst(await index.readFile(path, start, end)),
    texts: () => index.texts(),
    history: () => index.history(),
    withUses: (_, work) => index.withUses((files) => work(files, files)),
    having: (paths) => index.withUses(async (files) => [paths.filter((path) => files.has(path)).length]),
    tooLarge: () => index.tooLarge(),
    nearPaths: (path) => Promise.resolve(index.nearPaths(path)),
  };
}

export function infoOf(index: LocalIndex): LocalInfo {
  const { repo, root, gitSha, indexedAtMs, isWorkTree, stale, unread } = index.info;
  const name = repo ?? basename(root);
  const submodules = submodulesOf(root);
  return { name, gitSha, indexedAtMs, isWorkTree, stale, unread, submodules, state: stateOf(index) };
}
