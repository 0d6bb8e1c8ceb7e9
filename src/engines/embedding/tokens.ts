const CHARACTERS_PER_TOKEN = 4;

/**
 * Estimates the tokens of a request if the upstream reports none: ceil(characters / 4) over all texts. Characters are UTF-16 code
 * units, as in all limits.
 */
export function estimateTokens(texts: readonly string[]): number {
  let characters = 0;
  for (const text of texts) characters += text.length;
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Returns `value` if it is a usable token count. Zero for a non-empty request means "not counted". */
export function reportedTokens(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.ceil(value) : undefined;
}

/**
 * Sums the tokens of the calls that a request was split into. If any call was not counted, the whole request is estimated.
 */
export function totalTokens(perCall: readonly (number | undefined)[], texts: readonly string[]): number {
  let sum = 0;
  for (const tokens of perCall) {
    if (tokens === undefined) return estimateTokens(texts);
    sum += tokens;
  }
  return perCall.length === 0 ? estimateTokens(texts) : sum;
}
