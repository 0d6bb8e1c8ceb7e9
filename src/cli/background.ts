/** Marks a promise that is awaited later, if at all, so that a failure is not an unhandled rejection. */
export function inBackground<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
