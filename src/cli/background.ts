/** Starts work that is awaited later, if at all. A failure is reported where it is awaited, not as an unhandled rejection. */
export function inBackground<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
