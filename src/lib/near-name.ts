/** Longer names are cut, so that the comparison is cheap. */
const MAX_CHARACTERS = 40;

/** The name that was probably meant: the same without regard to case, `_` and `-`, or a third of the letters wrong at most. */
export function nearName(given: string, names: readonly string[]): string | undefined {
  const wanted = fold(given);
  let best: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = editDistance(wanted, fold(name));
    if (distance <= Math.max(wanted.length, name.length) / 3 && distance < (best?.distance ?? Infinity)) {
      best = { name, distance };
    }
  }
  return best?.name;
}

const fold = (name: string): string => name.slice(0, MAX_CHARACTERS).toLowerCase().replaceAll(/[_-]/g, "");

/** Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
