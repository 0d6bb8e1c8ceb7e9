/** The service as a process of its own, to be stopped, killed and started again. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../src/tooling/local/stack/ports.ts";
import { readServiceFile, type ServiceFile } from "../../../src/tooling/local/stack/service-file.ts";

const RUN = fileURLToPath(new URL("../../../src/tooling/local/run.mjs", import.meta.url));
const START_TIMEOUT_MS = 120_000;
const POLL_MS = 50;

export interface ServiceProcess {
  service: ServiceFile;
  pid: number;
  /** Everything it has printed. */
  output(): string;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/** Ports of their own for each process of tests: a service takes its own some seconds after they were chosen. */
const FIRST_PORT = 13_000;
const PORTS = 250;
const MAX_PROCESSES = 12;

/** Ports for a service that is to come back at the same place. */
export async function freePorts(): Promise<{ PORT: string; SITE_PORT: string }> {
  const first = FIRST_PORT + PORTS * (Number(process.env["VITEST_POOL_ID"] ?? 0) % MAX_PROCESSES);
  const port = await freePort({ first, end: first + PORTS / 2 });
  return { PORT: String(port), SITE_PORT: String(await freePort({ first: first + PORTS / 2, end: first + PORTS })) };
}

/** What `npm start` runs, until it has ended: for starts that are meant to fail. */
export async function runStart(env: Record<string, string>): Promise<{ code: number | string | null; stderr: string }> {
  const child = start(env);
  let stderr = "";
  child.stderr?.on("data", (data: Buffer) => (stderr += data.toString()));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { code: code ?? signal, stderr };
}

/** Starts the service and waits for its `service.json`. Rejects with its output when it ends instead. */
export async function spawnService(env: Record<string, string> & { DATA_DIR: string }): Promise<ServiceProcess> {
  const child = start(env);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data: Buffer) => (output += data.toString()));
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const deadline = Date.now() + START_TIMEOUT_MS;
  // A file that a killed service left behind has another process's address in it; only a fresh banner counts.
  while (!output.includes("is ready")) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`the service did not start: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const service = readServiceFile(env.DATA_DIR);
  if (!service || child.pid === undefined) throw new Error(`no service.json: ${output}`);
  return {
    service,
    pid: child.pid,
    output: () => output,
    stop: () => {
      child.kill("SIGTERM");
      return exited;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function start(env: Record<string, string>): ChildProcess {
  // Miniflare would hand workerd each certificate of that bundle, at seconds per start; nothing here speaks TLS.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  return spawn(process.execPath, [RUN, "start"], {
    // The repositories of tests are on this machine.
    env: { ...inherited, DATABASE_URL: "", GIT_ALLOW_LOCAL: "true", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}
