/** Lets work go on that is awaited later, or never: its failure is reported where it is awaited. */
export function inBackground<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
