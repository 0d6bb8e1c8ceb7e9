/**
 * Miniflare encodes the Workers into one buffer that grows by what is missing, and copies all of it each time. With the grammars in it,
 * that takes 73 copies of up to 37 MB at each start, more than a third of the start's CPU time. Miniflare has no option for it, so
 * the size of the steps is replaced in its source when it is loaded. Without the replacement the start is only slower.
 */
import module from "node:module";

const MINIFLARE = "/node_modules/miniflare/dist/src/index.js";
const STEP = "MIN_SINGLE_SEGMENT_GROWTH = 4096";
/** Larger than everything that is encoded. */
const LARGE_STEP = "MIN_SINGLE_SEGMENT_GROWTH = 67108864";

/** Applies to an import of Miniflare from now until the returned function is called. */
export function growInLargeSteps(): () => void {
  const hooks = module.registerHooks({
    load(url, context, nextLoad) {
      if (!url.endsWith(MINIFLARE)) return nextLoad(url, context);
      const loaded = nextLoad(url, { ...context, format: "commonjs" });
      if (!(loaded.source instanceof Uint8Array)) return loaded;
      return { ...loaded, source: withLargeSteps(Buffer.from(loaded.source).toString()) };
    },
  });
  return () => hooks.deregister();
}

/** Miniflare's source with the larger step. */
export function withLargeSteps(source: string): string {
  return source.replace(STEP, LARGE_STEP);
}
