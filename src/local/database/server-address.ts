/** Reads the address of a PostgreSQL server from its URL: host, database, user, and libpq's options for TLS. */
import { connect } from "node:net";
import type { ClientConfig } from "pg";
import { parse, toClientConfig } from "pg-connection-string";
import { errnoOf, StartError } from "../errors.ts";

const DEFAULT_PORT = 5432;
const PROBE_TIMEOUT_MS = 5_000;
/** Asks a server whether it speaks TLS: https://www.postgresql.org/docs/17/protocol-message-formats.html (SSLRequest). */
const SSL_REQUEST = Buffer.from("0000000804d2162f", "hex");
const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/**
 * The address in a postgres:// URL, for `pg`. `sslmode` means what it means for libpq; without it, or with `prefer`, TLS is used if
 * the server has it. Throws `StartError` that names `DATABASE_URL` if the URL is malformed or a file it names cannot be read.
 */
export async function serverAddress(url: string): Promise<ClientConfig> {
  const mode = new URL(url).searchParams.get("sslmode") ?? "prefer";
  if (!SSL_MODES.includes(mode)) throw malformed(`sslmode: expected one of ${SSL_MODES.join(", ")}`);
  let address: ClientConfig;
  try {
    address = toClientConfig(parse(url, { useLibpqCompat: true }));
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "EACCES")
      throw malformed(`a file of its TLS options cannot be read (${errnoOf(error)})`);
    throw malformed(
      mode === "verify-ca" ? "sslmode=verify-ca needs sslrootcert" : "expected postgres://user:password@host/database",
    );
  }
  if (mode !== "prefer" || isSocket(address)) return address;
  const hasTls = (await probe(address)) === "tls";
  return { ...address, ssl: hasTls && { rejectUnauthorized: false } };
}

function malformed(why: string): StartError {
  return new StartError(`DATABASE_URL: ${why}`);
}

function isSocket({ host }: ClientConfig): boolean {
  return host?.startsWith("/") === true;
}

/**
 * What answers at an address: PostgreSQL, with or without TLS, or something else. Undefined if nothing answers.
 */
export function probe({ host, port }: ClientConfig): Promise<"tls" | "plain" | "other" | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: host || "localhost", port: port ?? DEFAULT_PORT });
    const end = (answer: "tls" | "plain" | "other" | undefined) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => end(undefined));
    socket.once("connect", () => socket.write(SSL_REQUEST));
    socket.once("error", () => end(undefined));
    socket.once("close", () => end("other"));
    socket.once("data", (bytes) => end(bytes[0] === 0x53 ? "tls" : bytes[0] === 0x4e ? "plain" : "other"));
  });
}
