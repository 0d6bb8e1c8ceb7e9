import { createServer } from "node:net";
import { errnoOf, StartError } from "./errors.ts";

const HOST = "127.0.0.1";

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, HOST, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : port));
    });
  });
}

/** A port of 127.0.0.1 that nothing listens on at this moment. */
export function freePort(): Promise<number> {
  return listenOnce(0);
}

/** Throws a `StartError` that names the variable when nothing can listen on the port. */
export async function claimPort(port: number, variable: string): Promise<void> {
  try {
    await listenOnce(port);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EADDRINUSE") throw StartError.portTaken(port, variable);
    throw new StartError(`cannot listen on port ${port} (${code ?? "unknown"}): set ${variable} to another port`);
  }
}
