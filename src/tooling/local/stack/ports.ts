import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { errnoOf, OperatorError } from "../../errors.ts";

const HOST = "127.0.0.1";
/**
 * Below the ephemeral ports of every system (gVisor's begin at 16000, Linux's at 32768), which an outgoing connection may take before
 * the service listens. `fetch` refuses port 10080. Those from 13000 on are for tests that name the ports of a service.
 */
const FREE: PortRange = { first: 10_100, end: 13_000 };
const MAX_TRIES = 100;

/** Ports from the first up to the end, which is exclusive. */
export interface PortRange {
  first: number;
  end: number;
}

function listenOnce(port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

/** A free port of 127.0.0.1 that is unlikely to be taken before it is used. */
export async function freePort({ first, end } = FREE): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = randomInt(first, end);
    try {
      await listenOnce(port, HOST);
      return port;
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
    }
  }
}

/** Throws a `OperatorError` that names the variable if the port of an address cannot be listened on. */
export async function claimPort(port: number, variable: string, host: string = HOST): Promise<void> {
  try {
    await listenOnce(port, host);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EADDRNOTAVAIL")
      throw new OperatorError(
        `HOST: ${host} is not an address of this machine: use 127.0.0.1, or 0.0.0.0 for all of them`,
      );
    if (code === "EADDRINUSE") throw OperatorError.portTaken(port, variable);
    throw new OperatorError(`cannot listen on port ${port} (${code ?? "unknown"}): set ${variable} to another port`);
  }
}
