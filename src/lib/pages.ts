/** Ids per look-up query. */
const LOOKUP_PAGE = 5_000;

/** Splits an iteration into arrays of at most `size` items, for look-up queries. */
export function* pages<T>(items: Iterable<T>, size = LOOKUP_PAGE): Generator<T[]> {
  let page: T[] = [];
  for (const item of items) {
    if (page.push(item) < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
