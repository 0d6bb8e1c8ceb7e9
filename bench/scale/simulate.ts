/** A discrete-event simulation of the indexing queue: pushes arrive, tenants' lines grant slots by the service's own rule, workers drain. */
import { grantSlots } from "../../src/service/runs/fair-share.ts";
import { seededFractions } from "../../test/support/numbers.ts";

export interface SimulationOptions {
  seed: number;
  tenants: number;
  /** Pushes a second of all tenants together. */
  pushesPerSec: number;
  seconds: number;
  /** Steps that run at the same time: `max_concurrency` of the consumer. */
  workers: number;
  /** Mean time of a run in seconds; times are exponentially distributed. */
  runSec: number;
  /** Runs that tenant 0 starts all at once, a tenth into the simulation. */
  burst: number;
  /** Slots of a tenant; Infinity: no fair sharing. */
  slots: number;
}

export interface SimulationResult {
  /** Runs that ended; all that arrived. */
  runs: number;
  /** Wait from push to start in seconds, of all tenants but the bursting one. */
  waitP50: number;
  waitP99: number;
  /** Until the last run of the burst had ended. */
  burstDoneSec: number;
  /** Most messages in the queue, and most runs in tenants' lines. */
  maxQueued: number;
  maxInLine: number;
  /** Most runs of one tenant that were granted at once. */
  maxGranted: number;
}

interface Run {
  tenant: number;
  at: number;
  workSec: number;
  granted: boolean;
}

/** The same options give the same result. */
export function simulate(options: SimulationOptions): SimulationResult {
  const random = seededFractions(options.seed);
  const exponential = (mean: number) => -Math.log(1 - random()) * mean;
  const arrivals: Run[] = [];
  for (
    let at = exponential(1 / options.pushesPerSec);
    at < options.seconds;
    at += exponential(1 / options.pushesPerSec)
  ) {
    const tenant = 1 + Math.floor(random() * (options.tenants - 1));
    arrivals.push({ tenant, at, workSec: exponential(options.runSec), granted: false });
  }
  const burstAt = options.seconds / 10;
  for (let i = 0; i < options.burst; i++)
    arrivals.push({ tenant: 0, at: burstAt, workSec: exponential(options.runSec), granted: false });
  arrivals.sort((a, b) => a.at - b.at);

  const lines = new Map<number, Run[]>();
  const queue: Run[] = [];
  let queueHead = 0;
  const working: { endAt: number; run: Run }[] = [];
  const waits: number[] = [];
  const result = { runs: 0, waitP50: 0, waitP99: 0, burstDoneSec: 0, maxQueued: 0, maxInLine: 0, maxGranted: 0 };
  let inLine = 0;
  const grant = (tenant: number) => {
    const line = lines.get(tenant) ?? [];
    for (const run of grantSlots(line, options.slots)) {
      run.granted = true;
      queue.push(run);
      inLine--;
    }
    result.maxGranted = Math.max(result.maxGranted, line.filter(({ granted }) => granted).length);
  };
  const start = (now: number) => {
    while (working.length < options.workers && queueHead < queue.length) {
      const run = queue[queueHead++] as Run;
      if (run.tenant !== 0) waits.push(now - run.at);
      working.push({ endAt: now + run.workSec, run });
      working.sort((a, b) => b.endAt - a.endAt);
    }
    result.maxQueued = Math.max(result.maxQueued, queue.length - queueHead);
    result.maxInLine = Math.max(result.maxInLine, inLine);
  };
  for (let next = 0; next < arrivals.length || working.length > 0;) {
    const arrival = arrivals[next];
    const end = working.at(-1);
    if (arrival && (!end || arrival.at <= end.endAt)) {
      next++;
      inLine++;
      lines.set(arrival.tenant, [...(lines.get(arrival.tenant) ?? []), arrival]);
      grant(arrival.tenant);
      start(arrival.at);
    } else if (end) {
      working.pop();
      result.runs++;
      if (end.run.tenant === 0) result.burstDoneSec = end.endAt - burstAt;
      const rest = (lines.get(end.run.tenant) ?? []).filter((run) => run !== end.run);
      if (rest.length === 0) lines.delete(end.run.tenant);
      else lines.set(end.run.tenant, rest);
      grant(end.run.tenant);
      start(end.endAt);
    }
  }
  waits.sort((a, b) => a - b);
  const quantile = (q: number) => waits[Math.floor(q * (waits.length - 1))] ?? 0;
  return { ...result, waitP50: quantile(0.5), waitP99: quantile(0.99) };
}
