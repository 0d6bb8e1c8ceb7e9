const CHARACTERS_PER_TOKEN = 4;

/**
 * Tokens of a request whose upstream reports none: ceil(characters / 4), over all texts together. Characters are UTF-16
 * code units, as everywhere in the limits.
 */
export function estimateTokens(texts: readonly string[]): number {
  let characters = 0;
  for (const text of texts) characters += text.length;
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** `value` where it is a usable token count, else `undefined`. Zero for a non-empty request means "not counted". */
export function reportedTokens(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.ceil(value) : undefined;
}

/**
 * Sum over the calls a request was split into. If any of them went uncounted, the whole request is estimated: a sum of
 * some reports and some guesses would be neither.
 */
export function totalTokens(perCall: readonly (number | undefined)[], texts: readonly string[]): number {
  let sum = 0;
  for (const tokens of perCall) {
    if (tokens === undefined) return estimateTokens(texts);
    sum += tokens;
  }
  return perCall.length === 0 ? estimateTokens(texts) : sum;
}
