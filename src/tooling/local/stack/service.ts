import { demoCredentials, removeServiceFile, type ServiceFile, writeServiceFile } from "./service-file.ts";
import { type RunningStack, type StackOptions, startStack } from "./stack.ts";

export interface RunningService {
  stack: RunningStack;
  /** Content of `service.json`. */
  service: ServiceFile;
  stop(): Promise<void>;
}

/** A stack with its demo tenant. `service.json` exists from the time it answers until it stops. */
export async function startService(options: StackOptions): Promise<RunningService> {
  const stack = await startStack(options);
  const stop = async () => {
    removeServiceFile(stack.dataDir);
    await stack.stop();
  };
  try {
    const { apiUrl, siteUrl, databaseUrl } = stack;
    const service: ServiceFile = { apiUrl, siteUrl, databaseUrl, ...(await demoCredentials(stack)) };
    writeServiceFile(stack.dataDir, service);
    return { stack, service, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
