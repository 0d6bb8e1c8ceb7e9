/** Header names of the wire. */
export const REQUEST_ID_HEADER = "X-Request-Id";
export const RATE_LIMIT_HEADER = "X-RateLimit-Limit";
export const RATE_REMAINING_HEADER = "X-RateLimit-Remaining";
export const RATE_RESET_HEADER = "X-RateLimit-Reset";
export const RETRY_AFTER_HEADER = "Retry-After";
