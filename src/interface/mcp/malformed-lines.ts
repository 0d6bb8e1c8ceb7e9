import { parseJSONRPCMessage } from "@modelcontextprotocol/server";
import * as z from "zod";

/** As the SDK, which closes the connection of a longer message. */
const MAX_BYTES = 10 * 1024 * 1024;
const NEWLINE = 10;

const WithId = z.object({ id: z.string().or(z.number()) });

/**
 * The answers to lines that are no message of JSON-RPC. The SDK's transport over stdio skips such lines, and their sender would wait for ever.
 */
export class MalformedLines {
  readonly #pending: Uint8Array[] = [];
  #bytes = 0;

  /** The answers to the lines that end in this part of the input, each a line. */
  answersTo(chunk: Uint8Array): string[] {
    const answers: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      const answer = answerTo(Buffer.concat(this.#pending).toString());
      if (answer) answers.push(`${JSON.stringify(answer)}\n`);
      this.#clear();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return answers;
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > MAX_BYTES) this.#clear();
    else if (part.length > 0) this.#pending.push(part);
  }

  #clear(): void {
    this.#pending.length = 0;
    this.#bytes = 0;
  }
}

/** Undefined for a message, and for a blank line. */
function answerTo(line: string): object | undefined {
  if (line.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return errorOf(null, -32_700, "Parse error: the line is no JSON");
  }
  try {
    // As the SDK, which skips what this throws at.
    parseJSONRPCMessage(value);
  } catch {
    return errorOf(WithId.safeParse(value).data?.id ?? null, -32_600, "Invalid request: no message of JSON-RPC 2.0");
  }
  return undefined;
}

const errorOf = (id: string | number | null, code: number, message: string) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});
