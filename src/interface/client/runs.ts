import type { RunStatus } from "../../contract/index.ts";
import { readAnswer } from "./answers.ts";
import { type Call, readText } from "./call.ts";
import { CodeContextError } from "./errors.ts";
import { parseJson } from "./failures.ts";
import { readEvents } from "./sse.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** A stream that is silent for this long is reopened. */
const STREAM_TIMEOUT_MS = 10 * 60_000;
const POLL_INTERVAL_MS = 1_000;
/** Consecutive streams without an event after which following the run fails. */
const MAX_EMPTY_STREAMS = 8;

/** See `CodeContextClient.streamRun`. */
export async function* streamRun(
  transport: Transport,
  call: Call,
  options: CallOptions = {},
): AsyncGenerator<RunStatus> {
  let lastSeen = "";
  for (let empty = 0; ;) {
    let failure: unknown;
    try {
      for await (const status of openOnce(transport, call, options)) {
        const seen = JSON.stringify(status);
        if (seen === lastSeen) continue;
        lastSeen = seen;
        empty = 0;
        yield status;
        if (status.state !== "queued" && status.state !== "running") return;
      }
    } catch (error) {
      if (!(error instanceof CodeContextError) || (error.code !== "NETWORK_ERROR" && error.code !== "TIMEOUT"))
        throw error;
      failure = error;
    }
    if (failure !== undefined && ++empty >= MAX_EMPTY_STREAMS) throw failure;
    await transport.wait(POLL_INTERVAL_MS * 2 ** Math.min(empty, 4), call, options.signal);
  }
}

/** Yields the statuses of one connection: those of an event stream, or the single one of a JSON answer. */
async function* openOnce(transport: Transport, call: Call, options: CallOptions): AsyncGenerator<RunStatus> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const streaming: Call = { ...call, headers: { Accept: "text/event-stream, application/json;q=0.5" } };
  try {
    const response = await transport.send(
      streaming,
      { timeoutMs: STREAM_TIMEOUT_MS, ...options, signal },
      async (answer) => answer,
    );
    const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream") === true;
    if (!isStream || !response.body) {
      yield await readStatus((await readText(response)) ?? "");
      return;
    }
    for await (const data of readEvents(response.body)) yield await readStatus(data);
  } catch (error) {
    if (error instanceof CodeContextError) throw error;
    if (options.signal?.aborted)
      throw new CodeContextError("ABORTED", "following the run was aborted", { cause: options.signal.reason });
    throw new CodeContextError("NETWORK_ERROR", "the run's event stream broke off", { cause: error });
  } finally {
    stop.abort();
  }
}

async function readStatus(data: string): Promise<RunStatus> {
  const read = await readAnswer("RunStatus", parseJson(data));
  if ("answer" in read) return read.answer;
  throw new CodeContextError("BAD_RESPONSE", "the answer is not a run's status that this client knows");
}
