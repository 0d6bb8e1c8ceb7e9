/** The last step: waits until the deployed service is healthy. */
import { pause } from "../../lib/pause.ts";
import type { Step } from "./context.ts";
import { OperatorError } from "../errors.ts";

/** A new Worker takes some seconds to be reachable everywhere, its first health probes up to 30 s, and a new domain's certificate minutes. */
const HEALTHY_WITHIN_MS = 300_000;
const PROBE_EVERY_MS = 2_000;
const PROBE_TIMEOUT_MS = 10_000;

export const health: Step = {
  title: "health",
  plan: async ({ apiUrl }) => `ask ${apiUrl}/healthz`,
  apply: async ({ apiUrl, state, say }) => {
    const deadline = Date.now() + HEALTHY_WITHIN_MS;
    for (;;) {
      const problem = await probe(apiUrl);
      if (problem === undefined) {
        state.update({ release: undefined });
        return;
      }
      if (Date.now() > deadline) {
        say(`  ${apiUrl}/healthz: ${problem}`);
        throw new OperatorError(`the service is deployed but not healthy: ${problem}`);
      }
      await pause(PROBE_EVERY_MS);
    }
  },
};

/** Describes what is unhealthy; undefined if all dependencies answer. */
async function probe(apiUrl: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${apiUrl}/healthz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    const text = await response.text();
    return response.ok && text.includes('"ok":true') ? undefined : `${response.status} ${text.slice(0, 300)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
