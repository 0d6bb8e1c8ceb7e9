/**
 * The platform's cache (Cache API) in front of the search objects in R2, for isolates that have not read an object yet. Objects are
 * immutable and named by tenant and hash; which of them a request may read is decided by the database, not here. Nobody can request
 * the addresses that are the cache's keys: their host name does not exist.
 */
import { TEXTS_PREFIX } from "./whole-texts/store.ts";
import { SEARCH_PREFIX, type SearchBucket } from "./store.ts";

/** Of immutable objects. */
const PREFIXES = [SEARCH_PREFIX, TEXTS_PREFIX];

/** The subset of a `Cache` that is used. */
interface PlatformCache {
  match(key: string): Promise<Response | undefined>;
  put(key: string, response: Response): Promise<void>;
}

/** Also how long the cache may hold ranges of objects that were deleted, for example with their tenant. */
const MAX_AGE_SEC = 3_600;
const SIZE_HEADER = "X-Object-Size";

/**
 * A bucket whose ranged reads of search objects are answered from the cache if it has them. A copy that is not as long as it must be is
 * ignored; checksums are compared by the readers, as for objects from R2.
 *
 * @param open opens the cache
 * @param isDamaged whether an object was found damaged: it is read from R2 then, because the copy may be what is damaged
 * @param later takes work that may end after the answer was sent
 */
export function cachedBucket(
  bucket: SearchBucket,
  open: () => Promise<PlatformCache>,
  { isDamaged, later }: { isDamaged: (key: string) => boolean; later: (work: Promise<unknown>) => void },
): SearchBucket {
  const get: SearchBucket["get"] = async (key, options) => {
    if (!options || !PREFIXES.some((prefix) => key.startsWith(prefix)) || isDamaged(key))
      return bucket.get(key, options);
    const { offset, length } = options.range;
    const address = `https://search.invalid/${key}?${offset}-${length}`;
    // Opened for each read: in Workers a request must not use what another has opened.
    const cache = await open();
    const known = await cache.match(address).catch(() => undefined);
    if (known) {
      const bytes = await known.arrayBuffer();
      const size = Number(known.headers.get(SIZE_HEADER));
      if (bytes.byteLength === Math.min(length, size - offset)) return { size, arrayBuffer: async () => bytes };
    }
    const object = await bucket.get(key, options);
    if (!object) return null;
    const bytes = await object.arrayBuffer();
    const headers = { "Cache-Control": `max-age=${MAX_AGE_SEC}`, [SIZE_HEADER]: String(object.size) };
    // The reader may use the buffer at once, so the cache gets a copy.
    later(cache.put(address, new Response(bytes.slice(0), { headers })).catch(() => undefined));
    return { size: object.size, arrayBuffer: async () => bytes };
  };
  return {
    get,
    head: (key) => bucket.head(key),
    put: (key, value) => bucket.put(key, value),
    delete: (keys) => bucket.delete(keys),
    list: (options) => bucket.list(options),
  };
}
