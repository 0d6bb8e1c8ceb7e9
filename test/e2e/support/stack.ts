/**
 * Global set-up of the e2e project: one service for all files, with a data directory and ports of its own. It runs in this
 * process; test files reach it over HTTP, through `service.ts`.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import os from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { DEVELOPMENT_VARS } from "../../../src/tooling/local/stack/environment.ts";
import { type RunningService, startService } from "../../../src/tooling/local/stack/service.ts";
import type { ServiceFile } from "../../../src/tooling/local/stack/service-file.ts";

/** What test files are told of the service. */
export type TestService = ServiceFile & {
  dataDir: string;
  /** `POST <controlUrl>/scheduled` runs the indexer's daily job and answers when it is done. */
  controlUrl: string;
};

declare module "vitest" {
  interface ProvidedContext {
    service: TestService;
  }
}

export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return startForTests(project);
}

/** Starts it on the database of a URL, or on the embedded one. */
export async function startForTests(project: TestProject, databaseUrl?: string): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), "code-context-e2e-"));
  const running = await startService({
    dataDir,
    port: 0,
    sitePort: 0,
    databaseUrl,
    vars: { ...DEVELOPMENT_VARS },
    onFatal: (error) => console.error(`the service under test has died: ${error.message}`),
  });
  const control = await startControl(running);
  project.provide("service", { ...running.service, dataDir, controlUrl: control.url });
  return async () => {
    control.close();
    await running.stop();
    if (process.env["KEEP_DATA"] === "1") console.log(`kept ${dataDir}`);
    else rmSync(dataDir, { recursive: true, force: true });
  };
}

async function startControl({ stack }: RunningService): Promise<{ url: string; close(): void }> {
  const secret = randomBytes(16).toString("hex");
  const server = createServer((request, response) => {
    if (request.method === "POST" && request.url === `/${secret}/scheduled`) {
      stack.runScheduled().then(
        () => response.writeHead(204).end(),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    } else {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/${secret}`, close: () => server.close() };
}
