/** The whole texts of hosted revisions, for exact search. */
import { sql } from "drizzle-orm";
import { isEveryText, type NgramQuery } from "../../../engines/exact/ngrams.ts";
import type { FileBytes, MissingText, RevisionTexts, Tallies, TextFile } from "../../../engines/exact/types.ts";
import { SearchFormatError } from "../../../engines/search/types.ts";
import { textName } from "../../../engines/texts/file-list.ts";
import type { StoredText, TextPack } from "../../../engines/texts/pack.ts";
import type { Db } from "../../db/client.ts";
import { lookUp } from "../../db/look-up.ts";
import { rowsOf } from "../../db/rows.ts";
import { contentsAt } from "../../revisions/content-at.ts";
import { filesOfTargets, type TextDeps, type TextTarget } from "./text-files.ts";
import { FILTERS_AT_ONCE } from "./cache.ts";
import { isListed, packKey } from "./store.ts";

/** Bytes of texts that are read together, and how many such parts are read ahead of the one that is searched. */
const PART_BYTES = 1024 * 1024;
const PARTS_AHEAD = 3;
/** Packs that are opened ahead of the one that is read. */
const PACKS_AHEAD = 3;

/** Texts of one pack: their ordinals in it, and the numbers of the texts among those that were grouped. */
interface OfPack {
  pack: string;
  ordinals: number[];
  numbers: number[];
}

/** Groups texts by pack, in the order of the packs' first ones. */
function groupByPack(contents: readonly string[]): OfPack[] {
  const groups = new Map<string, OfPack>();
  let last: OfPack | undefined;
  for (const [number, content] of contents.entries()) {
    const colon = content.lastIndexOf(":");
    // Texts of one pack mostly follow each other.
    if (last?.pack.length !== colon || !content.startsWith(last.pack)) {
      const pack = content.slice(0, colon);
      last = groups.get(pack) ?? { pack, ordinals: [], numbers: [] };
      groups.set(pack, last);
    }
    last.ordinals.push(Number(content.slice(colon + 1)));
    last.numbers.push(number);
  }
  return [...groups.values()];
}

/** Of the texts of a scope, which are asked about by each of its searches. */
const grouped = new WeakMap<readonly string[], OfPack[]>();

function groupsOf(contents: readonly string[]): OfPack[] {
  const known = grouped.get(contents) ?? groupByPack(contents);
  grouped.set(contents, known);
  return known;
}

/** Texts of some revisions of one tenant. */
export class HostedTexts implements RevisionTexts {
  readonly #deps: TextDeps;
  readonly #targets: readonly TextTarget[];
  /** Packs whose damage was reported. */
  readonly #damaged = new Set<string>();

  constructor(deps: TextDeps, targets: readonly TextTarget[]) {
    this.#deps = deps;
    this.#targets = targets;
  }

  get #tenantId(): string {
    return this.#targets[0]?.tenantId ?? "";
  }

  files(): Promise<readonly TextFile[]> {
    return filesOfTargets(this.#deps, this.#targets);
  }

  get tallies(): Tallies {
    const { tallies } = this.#deps.texts;
    const lists = [this.#tenantId, ...this.#targets.map(({ textList }) => textList)].join(" ");
    return {
      get: (key) => tallies.get(lists + key)?.[0],
      set: (key, tally) => tallies.set(lists + key, [tally, lists + key]),
    };
  }

  async candidates(query: NgramQuery, contents: readonly string[]): Promise<((number: number) => boolean) | undefined> {
    if (isEveryText(query)) return undefined;
    const { texts } = this.#deps;
    const isOpen = ({ pack }: OfPack) => texts.hasFilters(this.#tenantId, pack);
    // Open ones first: in the same order each time, all would be read again where they are more than the cache holds.
    const left = groupsOf(contents)
      .toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)))
      .values();
    const passes = new Uint8Array(contents.length);
    const readNext = async (): Promise<void> => {
      for (const { pack, ordinals, numbers } of left) {
        const filters = await texts.filters(this.#deps.bucket, this.#tenantId, pack);
        for (const [i, number] of numbers.entries())
          if (filters?.mayHold(ordinals[i] as number, query) !== false) passes[number] = 1;
      }
    };
    await Promise.all(Array.from({ length: FILTERS_AT_ONCE }, readNext));
    return (number) => passes[number] === 1;
  }

  regexModule(): Promise<WebAssembly.Module> {
    return this.#deps.regexModule();
  }

  async *read(contents: readonly string[]): AsyncGenerator<FileBytes | MissingText> {
    const parts = this.#parts(contents);
    const ahead: Promise<(FileBytes | MissingText)[]>[] = [];
    const readNext = async (): Promise<boolean> => {
      const part = await parts.next();
      if (part.done === true) return false;
      const reading = this.#readPart(part.value);
      // Reported where it is awaited; a search that stops early does not wait for it.
      reading.catch(() => {});
      ahead.push(reading);
      return true;
    };
    while (ahead.length < PARTS_AHEAD && (await readNext()));
    for (let next = ahead.shift(); next; next = ahead.shift()) {
      yield* await next;
      await readNext();
    }
  }

  /** The wanted texts of each pack, in the order of the packs' first ones, in parts of bounded size. */
  async *#parts(contents: readonly string[]): AsyncGenerator<Part> {
    const groups = groupByPack(contents);
    const opening: Promise<TextPack | undefined>[] = [];
    for (const [at, { pack: id, ordinals }] of groups.entries()) {
      for (const next of groups.slice(at + opening.length, at + 1 + PACKS_AHEAD)) {
        const opened = this.#open(next.pack);
        // Reported where it is awaited.
        opened.catch(() => {});
        opening.push(opened);
      }
      const sorted = ordinals.toSorted((a, b) => a - b);
      const pack = await opening.shift();
      let part: number[] = [];
      let bytes = 0;
      for (const ordinal of sorted) {
        part.push(ordinal);
        bytes += pack?.entries[ordinal]?.byteLength ?? 0;
        if (bytes < PART_BYTES) continue;
        yield { id, pack, ordinals: part };
        part = [];
        bytes = 0;
      }
      if (part.length > 0) yield { id, pack, ordinals: part };
    }
  }

  async #readPart({ id, pack, ordinals }: Part): Promise<(FileBytes | MissingText)[]> {
    if (pack) {
      try {
        const texts = await pack.readAll(ordinals);
        return texts.map(({ bytes, withheld }, at) => ({
          content: textName(id, ordinals[at] as number),
          bytes,
          withheld,
        }));
      } catch (error) {
        await this.#reportDamage(id, error);
      }
      if (ordinals.length > 1) {
        // Only what cannot be read is missing.
        const one = await Promise.all(ordinals.map((ordinal) => this.#readPart({ id, pack, ordinals: [ordinal] })));
        return one.flat();
      }
    }
    return ordinals.map((ordinal) => ({ content: textName(id, ordinal), missing: "damaged" }));
  }

  async #open(id: string): Promise<TextPack | undefined> {
    try {
      return await this.#deps.texts.pack(this.#deps.bucket, this.#tenantId, id);
    } catch (error) {
      await this.#reportDamage(id, error);
      return undefined;
    }
  }

  /** Has the revisions that read a damaged pack repaired. Throws any other error. */
  async #reportDamage(id: string, error: unknown): Promise<void> {
    if (!(error instanceof SearchFormatError) && !(error instanceof RangeError)) throw error;
    if (this.#damaged.has(id)) return;
    this.#damaged.add(id);
    const { texts, bucket } = this.#deps;
    for (const target of this.#targets) {
      if (!isListed(target.textList)) continue;
      const list = await texts.list(bucket, target.tenantId, target.textList);
      if (list.packs.includes(id)) await this.#deps.repair(target);
    }
    texts.forget(packKey(this.#tenantId, id));
  }

  enclosing(
    wanted: readonly { revision: number; path: string; lines: readonly number[] }[],
  ): Promise<(string | null)[][]> {
    return enclosingSymbols(this.#deps.db, this.#targets, wanted);
  }
}

interface Part {
  id: string;
  pack: TextPack | undefined;
  ordinals: number[];
}

/** Whether a revision has the text of a path. A list that cannot be read has none; `textAt` has it repaired. */
export async function hasText({ texts, bucket }: TextDeps, target: TextTarget, path: string): Promise<boolean> {
  if (!isListed(target.textList)) return false;
  try {
    const list = await texts.list(bucket, target.tenantId, target.textList);
    const position = list.find(path);
    return position !== -1 && list.at(position).text !== null;
  } catch (error) {
    if (error instanceof SearchFormatError) return false;
    throw error;
  }
}

/**
 * The text of a path; undefined if the revision has none of it, `"missing"` if it cannot be read, which a repair is asked for.
 */
export async function textAt(
  deps: TextDeps,
  target: TextTarget,
  path: string,
): Promise<{ text: StoredText; language: string | null } | "missing" | undefined> {
  if (!isListed(target.textList)) return undefined;
  const { texts, bucket } = deps;
  try {
    const list = await texts.list(bucket, target.tenantId, target.textList);
    const position = list.find(path);
    const file = position === -1 ? undefined : list.at(position);
    if (!file?.text) return undefined;
    const pack = await texts.pack(bucket, target.tenantId, file.text.pack);
    return { text: await pack.read(file.text.ordinal), language: file.language };
  } catch (error) {
    if (!(error instanceof SearchFormatError) && !(error instanceof RangeError)) throw error;
    if (error instanceof SearchFormatError && error.source !== undefined) texts.forget(error.source);
    await deps.repair(target);
    return "missing";
  }
}

interface SymbolRow {
  at: number;
  name: string;
  start: number;
  end: number;
}

/**
 * As `RevisionTexts.enclosing`: one statement, which reads the symbols around the wanted lines of each file. A symbol is around one of them
 * if it ends at or after the first of them from its own first line on.
 */
export async function enclosingSymbols(
  db: Db,
  targets: readonly TextTarget[],
  wanted: readonly { revision: number; path: string; lines: readonly number[] }[],
): Promise<(string | null)[][]> {
  const rows = wanted.flatMap(({ revision, path, lines }, at) => {
    const target = targets[revision];
    if (!target || lines.length === 0) return [];
    const { workspaceId, seq, baseSeq } = target;
    const ascending = Uint32Array.from(lines).sort();
    return [{ workspaceId, seq, baseSeq, path, at, lines: `{${ascending.join(",")}}`, last: ascending.at(-1) ?? 0 }];
  });
  if (rows.length === 0) return wanted.map(({ lines }) => lines.map(() => null));
  const found = await rowsOf<SymbolRow>(
    db,
    sql`select w.at, t.qualified_name as name, t.start_line as start, t.end_line as "end"
        from ${contentsAt(rows, [
          ["at", "int", ({ at }) => at],
          ["lines", "text", ({ lines }) => lines],
          ["last", "int", ({ last }) => last],
        ])}
        cross join lateral (select w.lines::int[] as lines offset 0) l
        ${lookUp(sql`select * from symbols where content_id = f.content_id and start_line <= w.last and end_line >= l.lines[1 + width_bucket(start_line - 1, l.lines)]`, "t")}`,
  );
  const byFile = new Map<number, SymbolRow[]>();
  for (const row of found) {
    const own = byFile.get(row.at) ?? [];
    byFile.set(row.at, own);
    own.push(row);
  }
  return wanted.map(({ lines }, at) => lines.map((line) => innermost(byFile.get(at) ?? [], line)));
}

function innermost(symbols: readonly SymbolRow[], line: number): string | null {
  let best: SymbolRow | undefined;
  for (const symbol of symbols) {
    if (symbol.start > line || symbol.end < line) continue;
    if (!best || symbol.start > best.start || (symbol.start === best.start && symbol.end < best.end)) best = symbol;
  }
  return best?.name ?? null;
}
