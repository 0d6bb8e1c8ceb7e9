/** Largest accepted event; a run status is far smaller. */
const MAX_EVENT_CHARACTERS = 1_000_000;

/**
 * Yields the `data` of each event of a `text/event-stream` body. Skips comments, other fields and an event cut off by the end
 * of the stream, as the HTML standard requires.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let pending = "";
  let data: string[] = [];
  let dataLength = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      pending += decoder.decode(value, { stream: true });
      if (pending.length > MAX_EVENT_CHARACTERS) throw new RangeError("an event of the stream is too long");
      // A CR at the very end may be the first half of a CRLF: leave it for the next read.
      const lines = pending.split(/\r\n|\n|\r(?!$)/);
      pending = lines.pop() ?? "";
      for (const line of lines) {
        if (line !== "") {
          const [, field, content = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
          if (field !== "data") continue;
          dataLength += content.length;
          if (dataLength > MAX_EVENT_CHARACTERS) throw new RangeError("an event of the stream is too long");
          data.push(content);
        } else if (data.length > 0) {
          yield data.join("\n");
          data = [];
          dataLength = 0;
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
