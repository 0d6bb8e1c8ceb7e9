/** A sorted stream, with the items that it gave last. */
interface Cursor<Item> {
  stream: AsyncIterator<readonly Item[]>;
  position: number;
  items: readonly Item[];
  at: number;
}

/**
 * Calls `visit` with the items of sorted streams in order; equal items in order of the streams. Streams give their items in parts, of which
 * one of each stream is in memory. Throws what a stream throws.
 */
export async function mergeSorted<Item>(
  streams: readonly AsyncIterator<readonly Item[]>[],
  compare: (a: Item, b: Item) => number,
  visit: (item: Item, stream: number) => void,
): Promise<void> {
  const cursors = await Promise.all(
    streams.map(async (stream, position): Promise<Cursor<Item>> => {
      const cursor = { stream, position, items: [], at: 0 };
      await refill(cursor);
      return cursor;
    }),
  );
  // A binary heap, the least cursor first.
  const heap = cursors.filter(({ items }) => items.length > 0);
  const isLess = (a: Cursor<Item>, b: Cursor<Item>): boolean =>
    (compare(a.items[a.at] as Item, b.items[b.at] as Item) || a.position - b.position) < 0;
  for (let i = (heap.length >> 1) - 1; i >= 0; i--) sink(heap, i, isLess);
  for (let least = heap[0]; least !== undefined; least = heap[0]) {
    visit(least.items[least.at++] as Item, least.position);
    if (least.at === least.items.length && !(await refill(least))) {
      const last = heap.pop() as Cursor<Item>;
      if (heap.length > 0) heap[0] = last;
    }
    sink(heap, 0, isLess);
  }
}

/** Takes the next part of a cursor's stream that has items; false at its end. */
async function refill<Item>(cursor: Cursor<Item>): Promise<boolean> {
  cursor.at = 0;
  for (;;) {
    const { done, value } = await cursor.stream.next();
    cursor.items = done === true ? [] : value;
    if (done === true || cursor.items.length > 0) return done !== true;
  }
}

/** Moves the element at `index` down to where both elements below it are not less. */
function sink<Element>(heap: Element[], index: number, isLess: (a: Element, b: Element) => boolean): void {
  for (let at = index; ;) {
    let least = at;
    for (const child of [2 * at + 1, 2 * at + 2])
      if (child < heap.length && isLess(heap[child] as Element, heap[least] as Element)) least = child;
    if (least === at) return;
    [heap[at], heap[least]] = [heap[least] as Element, heap[at] as Element];
    at = least;
  }
}
