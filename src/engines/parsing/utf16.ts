/** Whether bytes begin with a byte order mark of UTF-16. That of UTF-32, little-endian, begins with the same bytes. */
export function hasUtf16Mark(bytes: Uint8Array): boolean {
  return markedEncoding(bytes) !== undefined;
}

/** Whether UTF-16 with a mark holds a NUL character: it is no text then, or UTF-32. */
export function hasUtf16Nul(bytes: Uint8Array): boolean {
  for (let at = 2; at + 1 < bytes.length; at += 2) if (bytes[at] === 0 && bytes[at + 1] === 0) return true;
  return false;
}

/** The text of UTF-16 with a mark as UTF-8 without it, and other bytes as they are. As in ripgrep, what is not well-formed becomes U+FFFD. */
export function asUtf8(bytes: Uint8Array): Uint8Array {
  const encoding = markedEncoding(bytes);
  return encoding === undefined ? bytes : new TextEncoder().encode(new TextDecoder(encoding).decode(bytes));
}

function markedEncoding([first, second]: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}
