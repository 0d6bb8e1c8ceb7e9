/** The files of hosted revisions, as exact search reads them: from their lists, else from the database. */
import { sql } from "drizzle-orm";
import type { TextFile } from "../../../engines/exact/types.ts";
import { SearchFormatError } from "../../../engines/search/types.ts";
import type { FileList } from "../../../engines/texts/file-list.ts";
import type { Db } from "../../db/client.ts";
import { lookUp } from "../../db/look-up.ts";
import { rowsOf } from "../../db/rows.ts";
import { filesOfEach } from "../../revisions/files.ts";
import type { SearchBucket } from "../store.ts";
import type { Target } from "../targets.ts";
import type { TextCache } from "./cache.ts";
import { isListed, listKey } from "./store.ts";

export interface TextDeps {
  db: Db;
  bucket: SearchBucket;
  texts: TextCache;
  regexModule: () => Promise<WebAssembly.Module>;
  /** Has what a revision reads checked, and repaired. */
  repair: (revision: Pick<Target, "tenantId" | "workspaceId" | "seq">) => Promise<void>;
}

/** A revision whose texts are read. */
export type TextTarget = Pick<Target, "tenantId" | "workspaceId" | "seq" | "baseSeq" | "textList">;

/** Lists that are read at once: a Worker has six connections. */
const LISTS_AT_ONCE = 6;
/** Revisions without a list whose files are read with one statement. */
const UNLISTED_AT_ONCE = 50;

/**
 * All files, revision by revision, in order of path. Those of a revision without a list that can be read are not searched. The
 * same lists give the same array, by which callers keep what they derive from it.
 */
export async function filesOfTargets(deps: TextDeps, targets: readonly TextTarget[]): Promise<readonly TextFile[]> {
  const keys = targets.map(({ tenantId, textList }) => listKey(tenantId, textList ?? ""));
  const known = deps.texts.filesOf(keys);
  if (known) return known;
  const lists: (FileList | undefined)[] = [];
  const left = targets.entries();
  const readNext = async (): Promise<void> => {
    for (const [revision, target] of left) lists[revision] = await listOf(deps, target);
  };
  await Promise.all(Array.from({ length: LISTS_AT_ONCE }, readNext));
  const unlisted = [...targets.keys()].filter((revision) => lists[revision] === undefined);
  const missing = await unlistedFiles(deps.db, targets, unlisted);
  const all: TextFile[] = [];
  for (const [revision, list] of lists.entries()) {
    if (list === undefined) for (const file of missing.get(revision) ?? []) all.push(file);
    else for (let at = 0; at < list.paths.length; at++) all.push(new ListedText(revision, list, at));
  }
  if (unlisted.length === 0) deps.texts.keepFiles({ files: all, lists: keys });
  return all;
}

/** The list of a revision's files; undefined if it has none, or one that cannot be read, which a repair is asked for. */
async function listOf(deps: TextDeps, target: TextTarget): Promise<FileList | undefined> {
  if (!isListed(target.textList)) return undefined;
  try {
    return await deps.texts.list(deps.bucket, target.tenantId, target.textList);
  } catch (error) {
    if (!(error instanceof SearchFormatError)) throw error;
    await deps.repair(target);
    return undefined;
  }
}

/** A file of a list. A search asks little of most files. */
class ListedText implements TextFile {
  readonly revision: number;
  readonly #list: FileList;
  readonly #position: number;

  constructor(revision: number, list: FileList, position: number) {
    this.revision = revision;
    this.#list = list;
    this.#position = position;
  }

  get path(): string {
    return this.#list.paths[this.#position] as string;
  }

  get language(): string | null {
    return this.#list.languageAt(this.#position);
  }

  get size(): number | null {
    return this.#list.sizeAt(this.#position);
  }

  get state(): TextFile["state"] {
    return this.#list.stateAt(this.#position);
  }

  get reason(): string | undefined {
    return this.#list.reasonAt(this.#position) ?? undefined;
  }

  get content(): string | undefined {
    return this.#list.textNameAt(this.#position);
  }

  get withheldLines(): number {
    return this.#list.withheldLinesAt(this.#position);
  }
}

/** The files of revisions without a list, by their numbers, in order of path: none of them is searched. */
async function unlistedFiles(
  db: Db,
  targets: readonly TextTarget[],
  revisions: readonly number[],
): Promise<Map<number, TextFile[]>> {
  const files = new Map<number, TextFile[]>();
  for (let from = 0; from < revisions.length; from += UNLISTED_AT_ONCE) {
    const part = revisions.slice(from, from + UNLISTED_AT_ONCE);
    const rows = await rowsOf<{ at: number; path: string; language: string; size: number }>(
      db,
      sql`select w.at, f.path, c.language, c.size_bytes as size from ${filesOfEach(part.map((at) => [at, targets[at] as TextTarget]))}
          ${lookUp(sql`select * from contents where id = f.content_id`, "c")} order by w.at, f.path`,
    );
    for (const { at, path, language, size } of rows) {
      const own = files.get(at) ?? [];
      files.set(at, own);
      const reason = isListed(targets[at]?.textList ?? null) ? "damaged" : "not_stored";
      own.push({
        revision: at,
        path,
        language,
        size,
        state: "not_searched",
        reason,
        content: undefined,
        withheldLines: 0,
      });
    }
  }
  return files;
}
