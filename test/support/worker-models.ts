import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { type Fault, type ModelServer, type ModelServerOptions, startModelServer } from "./model-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address for starting model servers from tests in workerd, which cannot listen. */
    modelsUrl: string;
  }
}

/** Body of a request: `start` answers with the new server's number; all others refer to such a server. */
export type ModelOrder =
  | { do: "start"; options: ModelServerOptions }
  | { do: "fault"; server: number; fault: Fault; times?: number }
  | { do: "release"; server: number }
  | { do: "requests"; server: number }
  | { do: "received"; server: number; count: number }
  | { do: "aborted"; server: number; request: number };

/** Runs model servers for the tests in workerd, on request. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const models: ModelServer[] = [];
  // A connection that is closed as idle while a Worker sends on it loses the request.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      execute(models, JSON.parse(Buffer.concat(chunks).toString()) as ModelOrder).then(
        (answer) => response.end(JSON.stringify(answer ?? null)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  project.provide("modelsUrl", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.closeAllConnections();
    server.close();
    await Promise.all(models.map((model) => model.close()));
  };
}

async function execute(models: ModelServer[], order: ModelOrder): Promise<unknown> {
  if (order.do === "start") {
    const model = await startModelServer(order.options);
    return { server: models.push(model) - 1, baseUrl: model.baseUrl };
  }
  const model = models[order.server];
  if (!model) throw new Error(`there is no model server ${order.server}`);
  switch (order.do) {
    case "fault":
      model.fault(order.fault, order.times);
      return undefined;
    case "release":
      model.release();
      return undefined;
    case "requests":
      return model.requests.map(({ path, headers, body }) => ({ path, headers, body }));
    case "received":
      await model.received(order.count);
      return undefined;
    case "aborted":
      return model.requests[order.request]?.aborted;
  }
}
