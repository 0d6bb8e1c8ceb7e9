/** A gate's SQLite storage. The rows are the only state; changes are committed in groups. */
import { createTables, type ObjectTables, openTables, type Sql, type TableStorage } from "../../lib/object-tables.ts";
import { pause } from "../../lib/pause.ts";

/** Pause before the next commit under load, so that one wait for the disk covers many changes. */
const GATHER_MS = 2;

/** The subset of a Durable Object's storage that the gate uses. */
interface Storage extends TableStorage {
  /** Resolves when everything written so far is on disk. */
  sync(): Promise<void>;
  deleteAll(): Promise<void>;
}

export class GateStorage {
  readonly #storage: Storage;
  readonly #tables: ObjectTables;
  readonly #queue: (() => void)[] = [];
  #hasTables: boolean;
  #isCommitting = false;

  /**
   * Upgrades existing tables. Creates missing ones with the first change, so that an object without changes occupies no
   * storage. Throws for tables of a later release.
   */
  constructor(storage: Storage, tables: ObjectTables) {
    this.#storage = storage;
    this.#tables = tables;
    this.#hasTables = openTables(storage, tables);
  }

  get sql(): Sql {
    return this.#storage.sql;
  }

  /** True before the first change, when there are no tables yet. */
  get isEmpty(): boolean {
    return !this.#hasTables;
  }

  /**
   * Runs a synchronous change in a transaction and resolves to its result. Changes never interleave. The platform holds back an
   * RPC's answer until the rows written before it are durable. Changes that arrive during a commit share the next one.
   */
  write<T>(change: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.push(() => {
        try {
          resolve(this.#storage.transactionSync(change));
        } catch (error) {
          reject(error);
        }
      });
      // If the disk fails, the platform resets the object and fails every pending call.
      if (!this.#isCommitting) this.#commitQueued().catch(() => undefined);
    });
  }

  async deleteAll(): Promise<void> {
    await this.#storage.deleteAll();
    this.#hasTables = false;
  }

  async #commitQueued(): Promise<void> {
    this.#isCommitting = true;
    try {
      while (this.#queue.length > 0) {
        if (!this.#hasTables) createTables(this.#storage, this.#tables);
        this.#hasTables = true;
        for (const change of this.#queue.splice(0)) change();
        await this.#storage.sync();
        if (this.#queue.length > 0) await pause(GATHER_MS);
      }
    } finally {
      this.#isCommitting = false;
    }
  }
}
