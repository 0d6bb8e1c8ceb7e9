/** Splits a request into upstream calls that respect a provider's limits. */

export interface CallLimits {
  maxItems: number;
  /** Sum over all items of a call. */
  maxTokens: number;
}

/** For sizing calls, not for metering: dense code and CJK text have about two characters per token. */
const PESSIMISTIC_CHARACTERS_PER_TOKEN = 2;

export interface Span {
  start: number;
  /** Exclusive. */
  end: number;
}

/**
 * Splits `texts` into consecutive spans within `limits`, with `tokensPerItem` added to every item. An item that exceeds the limit
 * alone gets its own call: only the provider knows its true size and how to truncate it.
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
