/** A text as a stream (UTF-8) that sends its first part before the last one is there. An error of the last part ends the stream with it. */
export function inTwo(first: string, last: Promise<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(encoder.encode(first));
      controller.enqueue(encoder.encode(await last));
      controller.close();
    },
  });
}
