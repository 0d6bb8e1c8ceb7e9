/** Reads the address of a PostgreSQL server from its URL: host, database, user, and libpq's options for TLS. */
import { connect } from "node:net";
import type { ClientConfig } from "pg";
import { parse, toClientConfig } from "pg-connection-string";
import { OperatorError, errnoOf } from "../../errors.ts";

const DEFAULT_PORT = 5432;
const PROBE_TIMEOUT_MS = 5_000;
/** Asks a server whether it speaks TLS: https://www.postgresql.org/docs/17/protocol-message-formats.html (SSLRequest). */
const SSL_REQUEST = Buffer.from("0000000804d2162f", "hex");
const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"];

export interface ServerAddress {
  config: ClientConfig;
  /** TLS is used if the server has it, which `preferTls` finds out. */
  prefersTls: boolean;
}

/**
 * The address in a postgres:// URL. `sslmode` means what it means for libpq: `prefer` if it is absent. Throws `OperatorError` if the
 * URL is malformed or a file that it names cannot be read.
 */
export function readServerUrl(url: string): ServerAddress {
  const mode = new URLSearchParams(url.split("?")[1]).get("sslmode") ?? "prefer";
  if (!SSL_MODES.includes(mode)) throw new OperatorError(`sslmode: expected one of ${SSL_MODES.join(", ")}`);
  try {
    const config = toClientConfig(parse(url, { useLibpqCompat: true }));
    return { config, prefersTls: mode === "prefer" && config.host?.startsWith("/") !== true };
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "EACCES")
      throw new OperatorError(`a file that its TLS options name cannot be read (${code})`);
    throw new OperatorError(
      mode === "verify-ca" ? "sslmode=verify-ca needs sslrootcert" : "expected postgres://user:password@host/database",
    );
  }
}

/** Decides on TLS by asking the server. Rejects with the error of the connection. */
export async function preferTls({ config, prefersTls }: ServerAddress): Promise<ClientConfig> {
  if (!prefersTls) return config;
  return { ...config, ssl: (await hasTls(config)) && { rejectUnauthorized: false } };
}

function hasTls({ host, port }: ClientConfig): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: host || "localhost", port: port ?? DEFAULT_PORT });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => {
      socket.destroy();
      reject(new Error("timeout"));
    });
    socket.once("connect", () => socket.write(SSL_REQUEST));
    socket.once("error", reject);
    socket.once("close", () => end(false));
    socket.once("data", (bytes) => end(bytes.toString("latin1", 0, 1) === "S"));
  });
}
