/** The bytes of the term table in a Worker, which are loaded when they are first asked for. */
export async function workerTerms(): Promise<ArrayBuffer> {
  const { default: bytes } = await import("./terms.bin");
  return bytes;
}
