import { closeSync, existsSync, fsyncSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { CliError, EXIT } from "../exit-codes.ts";
import { makeFolder } from "../machine/folders.ts";
import { BUSY_TIMEOUT_MS, openReadOnly, versionOf } from "./database.ts";
import { type PackedFile, type UnpackedFile, unpackFile } from "./packed-file.ts";
import { addRowCheck } from "./row-check.ts";
import { CONTENT_KEY, INDEXES, intact, rowId, SCHEMA_VERSION, TABLES } from "./schema.ts";
import { isUpgradable, type UpgradeListener, upgradeTables } from "./upgrades.ts";
import { IndexDamagedError, verified } from "./verified.ts";
import { FLUSHABLE, renameFile } from "../machine/platform.ts";

/** A version further ahead than this means damage, not a newer program. */
const PLAUSIBLE_VERSIONS = 100;
/** Page cache of a connection. The files stay in the system's cache, so a larger one takes memory and saves no time. */
const CACHE_KIB = 8 * 1024;

export interface NewContent {
  sha256: Uint8Array;
  language: string;
  sizeBytes: number;
  lineCount: number;
  outcome: string;
  /** Why the content is not indexed; `packed` is null then. */
  skip: string | null;
  packed: PackedFile | null;
}

/** The database of one local index. Writers must hold the write lock (see lock.ts); readers need no lock. */
export class IndexStore {
  db: DatabaseSync;
  /** Folder of the index. */
  readonly directory: string;
  readonly #parserVersion: number;
  readonly #statements = new Map<string, StatementSync>();
  readonly #fingerprintIds = new Map<string, number>();

  /** True while the index is being built under another name, until {@link settle}. */
  unsettled = false;
  #hasContentKey = false;

  private constructor(db: DatabaseSync, directory: string, parserVersion: number) {
    this.db = db;
    this.directory = directory;
    this.#parserVersion = parserVersion;
  }

  /**
   * Opens the index for one large import. A new index is built under another name, without a journal, and appears whole or not at all.
   */
  static openForImport(directory: string, parserVersion: number, onUpgrade?: UpgradeListener): IndexStore {
    if (existsSync(IndexStore.fileIn(directory))) return IndexStore.open(directory, parserVersion, onUpgrade);
    makeFolder(directory);
    const file = unsettledFile(directory);
    rmSync(file, { force: true });
    const db = new DatabaseSync(file);
    addRowCheck(db);
    db.exec(`pragma journal_mode = memory; pragma synchronous = off; pragma cache_size = -${CACHE_KIB}; ${TABLES}`);
    db.exec(`pragma user_version = ${SCHEMA_VERSION}`);
    const store = new IndexStore(db, directory, parserVersion);
    store.unsettled = true;
    return store;
  }

  /** Finishes an import: commits, moves the index to its name, and reopens it if asked to. */
  settle({ reopen } = { reopen: true }): void {
    if (!this.unsettled) return;
    const { directory } = this;
    this.commit();
    this.db.exec(CONTENT_KEY + INDEXES);
    this.unsettled = false;
    this.close();
    const file = unsettledFile(directory);
    const handle = openSync(file, FLUSHABLE);
    fsyncSync(handle);
    closeSync(handle);
    renameFile(file, IndexStore.fileIn(directory));
    if (reopen) this.db = IndexStore.open(directory, this.#parserVersion).db;
  }

  /** Path of the database in an index's folder. */
  static fileIn(directory: string): string {
    return join(directory, "index.sqlite");
  }

  /** Opens the index for writing; creates it if there is none, and upgrades one of an earlier version. */
  static open(directory: string, parserVersion: number, onUpgrade?: UpgradeListener): IndexStore {
    makeFolder(directory);
    const db = new DatabaseSync(IndexStore.fileIn(directory), { timeout: BUSY_TIMEOUT_MS });
    try {
      addRowCheck(db);
      const version = versionOf(db);
      if (version > 0 && version < SCHEMA_VERSION && !isUpgradable(version)) {
        // Everything in it can be rebuilt.
        db.close();
        for (const suffix of ["", "-wal", "-shm"]) rmSync(IndexStore.fileIn(directory) + suffix, { force: true });
        return IndexStore.open(directory, parserVersion);
      }
      // Every query has an index; an automatic one would cost a pass over all chunks.
      db.exec("pragma automatic_index = off");
      // In WAL mode readers see the last commit while a writer works; NORMAL survives any crash of the process, and a
      // power failure costs the last commits at most, never the database.
      db.exec(
        `pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -${CACHE_KIB}; pragma temp_store = memory`,
      );
      const store = new IndexStore(db, directory, parserVersion);
      store.#migrate(onUpgrade);
      return store;
    } catch (error) {
      if (db.isOpen) db.close();
      throw error;
    }
  }

  /** Opens the index for reading; undefined if there is none. */
  static openForReading(directory: string, parserVersion: number): IndexStore | undefined {
    const file = IndexStore.fileIn(directory);
    if (!existsSync(file)) return undefined;
    const db = openReadOnly(file);
    addRowCheck(db);
    if (versionOf(db) === SCHEMA_VERSION) return new IndexStore(db, directory, parserVersion);
    db.close();
    return undefined;
  }

  #migrate(onUpgrade: UpgradeListener | undefined): void {
    const version = versionOf(this.db);
    if (version === SCHEMA_VERSION) return;
    if (version > SCHEMA_VERSION + PLAUSIBLE_VERSIONS || version < 0)
      throw new IndexDamagedError("its version is invalid");
    if (version > SCHEMA_VERSION) {
      throw new CliError(EXIT.usage, "INDEX_TOO_NEW", "the local index was made by a newer codectx; update this one");
    }
    this.db.exec("begin immediate");
    // Another process may have created or upgraded it in the meantime.
    const found = versionOf(this.db);
    if (found === 0) this.db.exec(`${TABLES} ${CONTENT_KEY} ${INDEXES}`);
    else upgradeTables(this.db, found, onUpgrade);
    this.db.exec(`pragma user_version = ${SCHEMA_VERSION}; commit`);
    if (found !== 0 && found !== SCHEMA_VERSION) this.#shrink();
  }

  /** Gives the pages back that an upgrade has freed. */
  #shrink(): void {
    try {
      // The copy would otherwise be made in memory.
      this.db.exec("pragma temp_store = default; vacuum; pragma temp_store = memory");
    } catch {
      // Without room for a copy, the pages are used by what is indexed next.
    }
  }

  close(): void {
    if (!this.db.isOpen) return;
    if (this.db.isTransaction) this.db.exec("rollback");
    this.#statements.clear();
    this.#fingerprintIds.clear();
    this.db.close();
    if (this.unsettled) rmSync(unsettledFile(this.directory), { force: true });
  }

  /** Returns a cached prepared statement. */
  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.db.prepare(sql)));
    return statement;
  }

  /** Opens a transaction if none is open. {@link commit} makes it durable. */
  begin(): void {
    if (!this.db.isTransaction) this.db.exec("begin immediate");
  }

  commit(): void {
    if (this.db.isTransaction) this.db.exec("commit");
  }

  rollback(): void {
    this.#fingerprintIds.clear();
    if (this.db.isTransaction) this.db.exec("rollback");
  }

  /** Runs `work` in one transaction. */
  transaction<T>(work: () => T): T {
    this.begin();
    try {
      const result = work();
      this.commit();
      return result;
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  getMeta(key: string): string | undefined {
    const row = this.prepare(`select value, ${intact("meta")} as intact from meta where key = ?`).get(key);
    return row && verified<{ value: string }>(row).value;
  }

  setMeta(key: string, value: string): void {
    this.prepare("insert into meta values (?, ?) on conflict (key) do update set value = excluded.value").run(
      key,
      value,
    );
  }

  /** Id of a content of this parser version. */
  findContent(sha256: Uint8Array, language: string): number | undefined {
    if (this.unsettled && !this.#hasContentKey) {
      this.db.exec(CONTENT_KEY);
      this.#hasContentKey = true;
    }
    const sql = `select id, ${intact("contents")} as intact from contents where sha256 = ? and language = ? and parser_version = ?`;
    const row = this.prepare(sql).get(sha256, language, this.#parserVersion);
    return row && verified<{ id: number }>(row).id;
  }

  /** Adds a content with its symbols and chunks. Must be called within a transaction. */
  addContent(content: NewContent): number {
    const { packed } = content;
    const chunks = packed?.chunks ?? [];
    const redacted = chunks.reduce((sum, chunk) => sum + (chunk.withheld ? 1 : 0), 0);
    const { lastInsertRowid } = this.prepare(
      `insert into contents (sha256, language, parser_version, size_bytes, line_count, outcome, skip, symbol_count, chunk_count, redacted_count)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      content.sha256,
      content.language,
      this.#parserVersion,
      content.sizeBytes,
      content.lineCount,
      content.outcome,
      content.skip,
      packed?.symbolCount ?? 0,
      chunks.length,
      redacted,
    );
    const id = Number(lastInsertRowid);
    if (packed) this.addParsed(id, packed);
    return id;
  }

  /** Adds the symbols and chunks of a content that was added without them. Must be called within a transaction. */
  addParsed(id: number, { bytes, chunks }: PackedFile): void {
    this.prepare("insert into parsed (content_id, bytes) values (?, ?)").run(id, bytes);
    const add = this.prepare("insert into chunks (id, hash, withheld) values (?, ?, ?)");
    for (const [ordinal, { hash, withheld }] of chunks.entries())
      add.run(rowId(id, ordinal), Buffer.from(hash, "hex"), withheld ? 1 : 0);
  }

  /** Symbols and chunks of a content that is not in a base layer. Throws {@link IndexDamagedError} if they are damaged or missing. */
  readParsed(id: number): UnpackedFile {
    const row = this.prepare(`select bytes, ${intact("parsed")} as intact from parsed where content_id = ?`).get(id);
    return unpackFile(verified<{ bytes: Uint8Array }>(row ?? { intact: 0 }).bytes);
  }

  /** Row id of an embedding space; created if `dimension` is given. */
  fingerprintId(fingerprint: string, dimension?: number): number | undefined {
    const known = this.#fingerprintIds.get(fingerprint);
    if (known !== undefined) return known;
    if (dimension !== undefined) {
      this.prepare("insert into fingerprints (fingerprint, dimension) values (?, ?) on conflict do nothing").run(
        fingerprint,
        dimension,
      );
    }
    const row = this.prepare("select id from fingerprints where fingerprint = ?").get(fingerprint) as
      | { id: number }
      | undefined;
    if (row) this.#fingerprintIds.set(fingerprint, row.id);
    return row?.id;
  }

  /** Stores a vector (float16, little-endian); keeps an existing one. */
  addVector(fingerprintId: number, chunkHash: Uint8Array, vector: Uint8Array): void {
    this.prepare(
      "insert into vectors (fingerprint_id, chunk_hash, vector) values (?, ?, ?) on conflict do nothing",
    ).run(fingerprintId, chunkHash, vector);
  }

  hasVector(fingerprintId: number, chunkHash: Uint8Array): boolean {
    return (
      this.prepare("select 1 from vectors where fingerprint_id = ? and chunk_hash = ?").get(
        fingerprintId,
        chunkHash,
      ) !== undefined
    );
  }
}

function unsettledFile(directory: string): string {
  return `${IndexStore.fileIn(directory)}.new`;
}
