import { once } from "node:events";
import { createServer, request } from "node:http";

/** A proxy in front of a local server that counts the body bytes of its responses. */
export async function countingProxy(
  target: string,
): Promise<{ origin: string; received(): number; close(): Promise<void> }> {
  let bytes = 0;
  const server = createServer((incoming, outgoing) => {
    const upstream = request(
      `${target}${incoming.url ?? "/"}`,
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.on("data", (data: Buffer) => (bytes += data.byteLength));
        answer.pipe(outgoing);
      },
    );
    upstream.on("error", () => outgoing.destroy());
    outgoing.on("close", () => upstream.destroy());
    incoming.pipe(upstream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    origin: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    received: () => bytes,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
