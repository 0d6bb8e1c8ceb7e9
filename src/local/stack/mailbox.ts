/** Mail sent by the local stack: one file per message, in the data directory. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { MAILBOX_RECIPIENT_HEADER } from "../../mail/eml.ts";
import { errnoOf } from "../errors.ts";

const MAX_NAME_CHARACTERS = 100;

/** A service that writes each posted message to `<folder>/<time>-<address>.eml`, for the owner only. */
export function createMailbox(folder: string): (request: MailboxRequest) => Promise<Response> {
  return async (request) => {
    const message = await request.text();
    const address = request.headers.get(MAILBOX_RECIPIENT_HEADER) ?? "unknown";
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (let at = Date.now(); ; at++) {
      try {
        await writeFile(path.join(folder, fileName(at, address)), message, { flag: "wx", mode: 0o600 });
        return new Response(null, { status: 204 });
      } catch (error) {
        // Of two messages to one address in the same millisecond, the second gets the next one.
        if (errnoOf(error) !== "EEXIST") throw error;
      }
    }
  };
}

/** The members that Miniflare's and Node's requests have in common. */
interface MailboxRequest {
  headers: { get(name: string): string | null };
  text(): Promise<string>;
}

function fileName(atMs: number, address: string): string {
  const time = new Date(atMs).toISOString().replaceAll(":", "-");
  const name = address.replace(/[^a-zA-Z0-9@._+-]/g, "_").slice(0, MAX_NAME_CHARACTERS);
  return `${time}-${name}.eml`;
}
