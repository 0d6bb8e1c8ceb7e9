/** The embedded database: PGlite, a PostgreSQL with a single session that answers synchronously. */
import { setFlagsFromString } from "node:v8";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { startAutovacuum } from "./autovacuum.ts";
import { DatabaseFailure, type Session } from "./neon-endpoint.ts";
import { decodeResult, encodeQuery, type WireResult } from "./postgres-wire.ts";

interface EmbeddedOptions {
  /** Folder of the database; a new one is initialised in it if it is empty. */
  folder: string;
  /** Whether statistics and dead rows are looked after. */
  vacuums: boolean;
}

interface EmbeddedDatabase {
  acquire(): Promise<Session>;
  close(): Promise<void>;
}

const LAST_LINES = 4;
/** A new segment of the log is all zeros; one of the usual 16 MB makes up a third of the template. */
const NEW_DATABASE = ["--wal-segsize=1"];
/** PostgreSQL clears its buffers at each start, which takes 0.6 s for the usual 128 MB; the file system's cache stands behind them. */
const SETTINGS = ["-c", "shared_buffers=32MB"];
/** The protocol's message for a statement without text. */
const EMPTY_QUERY = Buffer.from("Q\0\0\0\x05\0", "latin1");

/**
 * PGlite whose SQL parser stays as V8 first compiles it. It is one function, which V8 finds hot after a few statements and spends 3 s of
 * CPU time and 500 MB on, at each start, to make statements no faster. V8 looks at the flag when it compiles a function for the first time;
 * an empty statement calls the parser, and little else.
 */
class Postgres extends PGlite {
  #hasParsed = false;

  override execProtocolRawSync(message: Uint8Array): Uint8Array {
    if (!this.#hasParsed) {
      this.#hasParsed = true;
      // Only the function with the number 0 is optimised.
      setFlagsFromString("--wasm-tier-up-filter=0");
      super.execProtocolRawSync(EMPTY_QUERY);
      setFlagsFromString("--wasm-tier-up-filter=-1");
    }
    return super.execProtocolRawSync(message);
  }
}

/** Opens or creates the database. Throws an `Error` with what PostgreSQL says if it cannot be opened. */
export async function openEmbedded({ folder, vacuums }: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const complaints: string[] = [];
  let database: PGlite;
  try {
    database = new Postgres({
      dataDir: folder,
      extensions: { vector },
      initDbStartParams: NEW_DATABASE,
      startParams: [...PGlite.defaultStartParams, ...SETTINGS],
      onStderr: (line) => {
        if (/\b(?:FATAL|PANIC|ERROR):/.test(line)) complaints.push(line);
        if (complaints.length > LAST_LINES) complaints.shift();
        return false;
      },
    });
    await database.waitReady;
    await database.exec("create extension if not exists vector");
  } catch (error) {
    const message = complaints.join("; ") || (error instanceof Error ? error.message : String(error));
    throw new Error(message, { cause: error });
  }

  const query = (text: string, params: (string | null)[]): WireResult => {
    const message = encodeQuery(text, params);
    let answer: Uint8Array;
    try {
      answer = database.execProtocolRawSync(message);
    } catch (error) {
      throw new DatabaseFailure(error instanceof Error ? error.message : String(error), { cause: error });
    }
    return decodeResult(answer);
  };
  // There is one session, so requests take turns: transactions can never interleave.
  let last: Promise<void> = Promise.resolve();
  let sessions = 0;
  const takeTurn = async (): Promise<Session> => {
    const turn = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await turn;
    return { query, release: resolve };
  };
  const stopAutovacuum = vacuums ? startAutovacuum(takeTurn, () => sessions) : () => {};
  return {
    acquire: () => {
      sessions++;
      return takeTurn();
    },
    close: async () => {
      stopAutovacuum();
      await database.close();
    },
  };
}
