/** Fits the weights of `rank.ts`: those under which the hidden files of cases are likeliest among all that were considered. */

/** A case: the features of each file considered, and which of them were hidden. */
export interface Sample {
  features: number[][];
  hidden: number[];
}

const STEPS = 400;
const RATE = 0.5;
/** Keeps weights of rare features small. */
const DECAY = 0.002;

/** Maximises the mean logarithm of the softmax of hidden files, by gradient ascent. `frozen` weights stay 0. */
export function fit(samples: readonly Sample[], size: number, frozen: ReadonlySet<number>): number[] {
  const weights = Array.from({ length: size }, () => 0);
  const used = samples.filter(({ hidden }) => hidden.length > 0);
  const squares = Array.from({ length: size }, () => 1e-8);
  for (let step = 0; step < STEPS; step++) {
    const gradient = Array.from({ length: size }, () => 0);
    for (const { features, hidden } of used) {
      const scores = features.map((own) => own.reduce((sum, value, i) => sum + value * (weights[i] as number), 0));
      const most = Math.max(...scores);
      const shares = scores.map((score) => Math.exp(score - most));
      const total = shares.reduce((sum, value) => sum + value, 0);
      for (const [f, own] of features.entries()) {
        const expected = (shares[f] as number) / total;
        const wanted = hidden.includes(f) ? 1 / hidden.length : 0;
        for (let i = 0; i < size; i++) gradient[i] = (gradient[i] as number) + (wanted - expected) * (own[i] as number);
      }
    }
    for (let i = 0; i < size; i++) {
      if (frozen.has(i)) continue;
      const slope = (gradient[i] as number) / used.length - DECAY * (weights[i] as number);
      squares[i] = (squares[i] as number) + slope * slope;
      weights[i] = (weights[i] as number) + (RATE * slope) / Math.sqrt(squares[i] as number);
    }
  }
  return weights;
}
