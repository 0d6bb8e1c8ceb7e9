/** A gate's SQLite storage. The rows are the only state; changes are committed in groups. */
import { pause } from "../pause.ts";
import type { Sql } from "./types.ts";

/** Pause before the next commit under load, so that one wait for the disk covers many changes. */
const GATHER_MS = 2;

/** The subset of a Durable Object's storage that the gate uses. */
export interface Storage {
  readonly sql: Sql;
  transactionSync<T>(change: () => T): T;
  /** Resolves when everything written so far is on disk. */
  sync(): Promise<void>;
  deleteAll(): Promise<void>;
}

export class GateStorage {
  readonly #storage: Storage;
  readonly #schema: string;
  readonly #queue: (() => void)[] = [];
  #hasTables: boolean;
  #isCommitting = false;

  /** Creates `schema` with the first change, so that an object without changes occupies no storage. */
  constructor(storage: Storage, schema: string) {
    this.#storage = storage;
    this.#schema = schema;
    this.#hasTables = storage.sql.exec("select 1 from sqlite_master where name = 'windows'").toArray().length > 0;
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
        if (!this.#hasTables) this.#storage.sql.exec(this.#schema);
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
