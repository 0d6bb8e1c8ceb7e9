import type { DatabaseSync } from "node:sqlite";
import type { Chunk, CodeSymbol } from "../../engines/parsing/types.ts";
import { packFile } from "./packed-file.ts";
import { CHUNKS, PARSED } from "./schema.ts";
import { IndexDamagedError, verified } from "./verified.ts";

/** Called with how many of the files are done. */
export type UpgradeListener = (done: number, total: number) => void;

/**
 * The steps from a version of the tables to the next, without what would have to be paid for, or parsed, again. Each runs in a transaction.
 * Indexes of versions before the first are made anew.
 */
const STEPS: Readonly<Record<number, (db: DatabaseSync, onProgress: UpgradeListener) => void>> = {
  // Version 4 filled `blobs` with what git showed under an id, which `git replace` could change.
  4: (db) => db.exec("delete from blobs"),
  5: packTables,
  // Version 6 packed with Brotli, which is still read.
  6: () => undefined,
};

/** Whether an index of a version can be upgraded. */
export const isUpgradable = (version: number): boolean => STEPS[version] !== undefined;

/** Upgrades the tables in the open transaction. Throws {@link IndexDamagedError} if what is taken over is damaged. */
export function upgradeTables(db: DatabaseSync, version: number, onProgress: UpgradeListener = () => undefined): void {
  for (let at = version; STEPS[at] !== undefined; at++) STEPS[at]?.(db, onProgress);
}

/** Columns that a row's checksum covered in version 5. */
const SYMBOLS_5 = "id, kind, name, qualified_name, signature, doc, parent, start_line, end_line, start_byte, end_byte";
const CHUNKS_5 = "id, hash, context, text, symbol, start_line, end_line, start_byte, end_byte, withheld";

/** Version 5 had a row for each symbol, and the text and place of each chunk in its row. */
function packTables(db: DatabaseSync, onProgress: UpgradeListener): void {
  db.exec(`drop index if exists symbols_name; alter table chunks rename to chunks_5; ${PARSED} ${CHUNKS}`);
  const within = "id between ?1 * 1048576 and ?1 * 1048576 + 1048575 order by id";
  const readSymbols = db.prepare(
    `select kind, name, qualified_name as qualifiedName, signature, doc, parent, start_line as startLine, end_line as endLine,
       start_byte as startByte, end_byte as endByte, row_check(${SYMBOLS_5}) = row_sum as intact from symbols where ${within}`,
  );
  const readChunks = db.prepare(
    `select text, context, lower(hex(hash)) as hash, start_line as startLine, end_line as endLine, start_byte as startByte,
       end_byte as endByte, symbol, withheld, row_check(${CHUNKS_5}) = row_sum as intact from chunks_5 where ${within}`,
  );
  const add = db.prepare("insert into parsed (content_id, bytes) values (?, ?)");
  const contents = db
    .prepare(
      "select id, symbol_count as symbolCount, chunk_count as chunkCount from contents where base is null and skip is null",
    )
    .all() as { id: number; symbolCount: number; chunkCount: number }[];
  for (const [i, { id, symbolCount, chunkCount }] of contents.entries()) {
    const symbols = readSymbols.all(id).map((row) => verified<CodeSymbol>(row));
    const chunks = readChunks
      .all(id)
      .map((row) => verified<Omit<Chunk, "withheld"> & { withheld: number }>(row))
      .map((row): Chunk => Object.assign(row, { withheld: row.withheld === 1 }));
    if (symbols.length !== symbolCount || chunks.length !== chunkCount) throw new IndexDamagedError("rows are missing");
    add.run(id, packFile(symbols, chunks).bytes);
    onProgress(i + 1, contents.length);
  }
  db.exec(`insert into chunks (id, hash, withheld) select id, hash, withheld from chunks_5;
    drop table chunks_5; drop table symbols`);
}
