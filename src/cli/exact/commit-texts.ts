import { MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import type { InspectedText } from "../../engines/exact/inspect.ts";
import { blankLines } from "../../engines/parsing/secrets/lines.ts";
import { asUtf8 } from "../../engines/parsing/utf16.ts";
import { mayHold } from "../../engines/exact/ngram-filter.ts";
import type { FileBytes, MissingText, RevisionTexts, TextFile } from "../../engines/exact/types.ts";
import { compareUtf8 } from "../../engines/search/order.ts";
import { type GitEntry, listReadableTree } from "../git/commit-tree.ts";
import { readIntactBlobs } from "../git/objects.ts";
import { readIgnores } from "../indexing/commit-ignores.ts";
import { inspectTexts, type UnknownText } from "./inspect-texts.ts";
import { regexModule } from "./regex-module.ts";
import type { TextCache } from "./text-cache.ts";
import { describeText, LOCAL_MAX_MS, notSearched } from "./work-tree-texts.ts";

const SYMLINK = 0o120000;
const SUBMODULE = 0o160000;

interface CommitTree {
  root: string;
  gitSha: string;
  cache: TextCache;
  enclosing: RevisionTexts["enclosing"];
}

/** The texts of a commit, from git's objects: the work tree is neither read nor changed. Objects that git lacks are not searched. */
export function commitTexts(given: CommitTree): RevisionTexts {
  const { root } = given;
  let examined: Promise<{ files: TextFile[]; texts: Map<string, InspectedText> }> | undefined;
  const examine = () => (examined ??= examineCommit(given));
  return {
    maxMs: LOCAL_MAX_MS,
    files: async () => (await examine()).files,
    candidates: async (query, contents) => {
      const { texts } = await examine();
      return (number) => {
        const inspected = texts.get(contents[number] as string);
        return inspected === undefined || mayHold(inspected.filter, query);
      };
    },
    regexModule,
    async *read(contents): AsyncGenerator<FileBytes | MissingText> {
      const { texts } = await examine();
      for await (const { oid, bytes } of readIntactBlobs(root, contents)) {
        if (!bytes) {
          yield { content: oid, missing: "unreadable" };
          continue;
        }
        const withheld = texts.get(oid)?.withheld ?? [];
        yield { content: oid, bytes: blankLines(asUtf8(bytes), withheld), withheld };
      }
    },
    enclosing: given.enclosing,
  };
}

/** All files of a commit. Blobs that are not known yet are read. */
async function examineCommit({
  root,
  gitSha,
  cache,
}: CommitTree): Promise<{ files: TextFile[]; texts: Map<string, InspectedText> }> {
  const { entries, unread } = await listReadableTree(root, gitSha);
  entries.sort((a, b) => compareUtf8(a.path, b.path));
  const rules = await readIgnores(root, entries, readIntactBlobs);
  const left = new Map(entries.map((entry) => [entry, reasonOf(entry, rules.ignores(entry.path))]));
  const wanted = new Set(entries.flatMap((entry) => (left.get(entry) === undefined ? [entry.oid] : [])));
  const texts = new Map<string, InspectedText>();
  const unknown: string[] = [];
  for (const oid of wanted) {
    const known = cache.get(oid);
    if (known) texts.set(oid, known);
    else unknown.push(oid);
  }
  await inspectTexts(readableTexts(root, unknown), unknown.length, (oid, inspected) => void texts.set(oid, inspected));
  // In order: threads answer in any, and the next search finds records fastest in the order of the files.
  for (const oid of unknown) {
    const inspected = texts.get(oid);
    if (inspected) cache.add(oid, inspected);
  }
  cache.save({ keepsAll: true });
  const files = entries.map((entry): TextFile => {
    const { path, oid, sizeBytes } = entry;
    const reason = left.get(entry);
    const inspected = texts.get(oid);
    if (reason !== undefined) return notSearched(path, reason, sizeBytes);
    if (!inspected) return notSearched(path, "unreadable");
    return describeText(path, sizeBytes, inspected, oid);
  });
  for (const folder of unread) files.push(notSearched(folder, "unreadable"));
  return { files, texts };
}

/** The blobs that git can read. */
async function* readableTexts(root: string, oids: readonly string[]): AsyncGenerator<UnknownText<string>> {
  for await (const { oid, bytes } of readIntactBlobs(root, oids)) if (bytes) yield { key: oid, bytes };
}

/** Why a file is not read. */
function reasonOf({ mode, sizeBytes }: GitEntry, isIgnored: boolean): string | undefined {
  if (mode === SUBMODULE) return "submodule";
  if (mode === SYMLINK) return "symlink";
  if (isIgnored) return "excluded";
  return sizeBytes > MAX_FILE_SIZE_BYTES ? "too_large" : undefined;
}
