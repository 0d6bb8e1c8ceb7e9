import { inject } from "vitest";
import type { ModelOrder } from "../../support/worker-models.ts";
import type { Fault, ModelServerOptions } from "../../support/model-server.ts";

export interface Models {
  baseUrl: string;
  fault(fault: Fault, times?: number): Promise<void>;
  /** Sends the answers of all `held` requests. */
  release(): Promise<void>;
  requests(): Promise<{ path: string; headers: Record<string, string>; body: Record<string, unknown> }[]>;
  /** Resolves when `count` requests have arrived. */
  received(count: number): Promise<void>;
  /** Resolves when the request has ended, to whether its client disconnected before the answer. */
  aborted(request: number): Promise<boolean>;
}

/** Starts a model server for one test, in the process of the test runner. */
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
