/** Splits a request into upstream calls that respect a provider's limits. */

export interface CallLimits {
  maxItems: number;
  /** Over all items of a call. */
  maxTokens: number;
}

/** Upper bound for sizing calls, not for metering: dense code and CJK text come out near two characters a token. */
const PESSIMISTIC_CHARACTERS_PER_TOKEN = 2;

export interface Span {
  start: number;
  /** Exclusive. */
  end: number;
}

/**
 * Consecutive spans of `texts`, in order, each within `limits` with `tokensPerItem` added to every item. An item that is
 * too large by itself gets a call of its own: only the provider knows its true size and how to truncate it.
 */
export function splitIntoSpans(texts: readonly string[], limits: CallLimits, tokensPerItem = 0): Span[] {
  const spans: Span[] = [];
  let start = 0;
  let tokens = 0;
  for (const [position, text] of texts.entries()) {
    const size = pessimisticTokens(text) + tokensPerItem;
    const full = position - start >= limits.maxItems || tokens + size > limits.maxTokens;
    if (position > start && full) {
      spans.push({ start, end: position });
      start = position;
      tokens = 0;
    }
    tokens += size;
  }
  if (texts.length > start) spans.push({ start, end: texts.length });
  return spans;
}

export function pessimisticTokens(text: string): number {
  return Math.ceil(text.length / PESSIMISTIC_CHARACTERS_PER_TOKEN);
}
