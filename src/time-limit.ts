/**
 * Runs `work`. When that takes longer than `timeoutMs` it comes to what `expired` returns or throws instead, and how `work`
 * ends is of no interest any more; whoever calls sees to it that it does end.
 */
export type TimeLimit = <T>(timeoutMs: number, work: () => Promise<T>, expired: () => T) => Promise<T>;

/** A time limit with a timer of its own. */
export const withTimer: TimeLimit = async (timeoutMs, work, expired) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, timeoutMs));
  }).then(expired);
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
};

interface Limit {
  endsAtMs: number;
  expire(): void;
}

/**
 * Time limits for all that one request of a Worker does, on as few timers as possible: one that still runs when its work is
 * done serves the next limit, and in the end it goes with the request. Setting and clearing a timer for each limit takes a
 * tenth of what a small request takes.
 */
export function requestTimer(): TimeLimit {
  const open = new Set<Limit>();
  let firesAtMs = Infinity;
  const arm = (atMs: number) => {
    firesAtMs = atMs;
    setTimeout(fire, Math.max(0, atMs - Date.now()));
  };
  const fire = () => {
    firesAtMs = Infinity;
    const nowMs = Date.now();
    let nextMs = Infinity;
    for (const limit of open) {
      if (limit.endsAtMs <= nowMs) limit.expire();
      else nextMs = Math.min(nextMs, limit.endsAtMs);
    }
    if (nextMs < firesAtMs) arm(nextMs);
  };
  return (timeoutMs, work, expired) =>
    new Promise((resolve, reject) => {
      const settle = <V>(end: (value: V) => void, value: V) => {
        open.delete(limit);
        end(value);
      };
      const limit: Limit = {
        endsAtMs: Date.now() + timeoutMs,
        expire: () => {
          open.delete(limit);
          try {
            resolve(expired());
          } catch (error) {
            reject(error);
          }
        },
      };
      const working = work();
      open.add(limit);
      if (limit.endsAtMs < firesAtMs) arm(limit.endsAtMs);
      working.then(
        (value) => settle(resolve, value),
        (error: unknown) => settle(reject, error),
      );
    });
}
