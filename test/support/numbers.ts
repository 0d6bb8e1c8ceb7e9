/** Unsigned 32-bit integers, the same sequence for the same seed (Tommy Ettinger's mulberry32). */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** Integers below a limit, the same sequence for the same seed. */
export function seededIntegers(seed: number): (limit: number) => number {
  const next = mulberry32(seed);
  return (limit) => next() % limit;
}

/** Numbers in [0, 1), the same sequence for the same seed. */
export function seededFractions(seed: number): () => number {
  const next = mulberry32(seed);
  return () => next() / 2 ** 32;
}

/** As `seededIntegers`, by xorshift32: the checksum of the snapshot fixture depends on this sequence. */
export function seededNumbers(seed: number): (limit: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}
