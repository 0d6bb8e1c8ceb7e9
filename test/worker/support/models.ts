import { inject } from "vitest";
import type { ModelOrder } from "../../support/worker-models.ts";
import type { Fault, ModelServerOptions } from "../../support/model-server.ts";

export interface Models {
  baseUrl: string;
  fault(fault: Fault, times?: number): Promise<void>;
  /** Lets the answers of all `held` requests go. */
  release(): Promise<void>;
  requests(): Promise<{ path: string; headers: Record<string, string>; body: Record<string, unknown> }[]>;
  /** Resolves when so many requests have come. */
  received(count: number): Promise<void>;
  /** Resolves when the request is over, to whether its client left before the answer. */
  aborted(request: number): Promise<boolean>;
}

/** A model server of the test's own, in the process that runs the tests. */
export async function startModels(options: ModelServerOptions = {}): Promise<Models> {
  const { server, baseUrl } = await order<{ server: number; baseUrl: string }>({ do: "start", options });
  return {
    baseUrl,
    fault: (fault, times) => order({ do: "fault", server, fault, ...(times === undefined ? {} : { times }) }),
    release: () => order({ do: "release", server }),
    requests: () => order({ do: "requests", server }),
    received: (count) => order({ do: "received", server, count }),
    aborted: (request) => order({ do: "aborted", server, request }),
  };
}

async function order<T>(body: ModelOrder): Promise<T> {
  const response = await fetch(inject("modelsUrl"), { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return response.json<T>();
}
