/** Mail sent by the local stack: one file per message, in the data directory. */
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import path from "node:path";
import { MAILBOX_RECIPIENT_HEADER, MAILBOX_TIME_HEADER } from "../../../service/mail/eml.ts";
import { errnoOf } from "../../errors.ts";

const MAX_NAME_CHARACTERS = 100;

/**
 * A service that writes each posted message to `<folder>/<time>-<address>.eml`, for the owner only. A message that is posted again after
 * a crash is written once.
 */
export function createMailbox(folder: string): (request: MailboxRequest) => Promise<Response> {
  return async (request) => {
    const message = await request.text();
    const address = request.headers.get(MAILBOX_RECIPIENT_HEADER) ?? "unknown";
    const sentAtMs = Date.parse(request.headers.get(MAILBOX_TIME_HEADER) ?? "") || Date.now();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // A kill never leaves half a message under its name.
    const written = path.join(folder, `.${randomUUID()}.tmp`);
    await writeFile(written, message, { mode: 0o600 });
    try {
      // Of two messages to one address in the same millisecond, the second gets the next one.
      for (let at = sentAtMs; !(await publish(written, path.join(folder, fileName(at, address)), message)); at++);
    } finally {
      await rm(written, { force: true });
    }
    return new Response(null, { status: 204 });
  };
}

/** Gives a file its name; false if another message has it. */
async function publish(written: string, file: string, message: string): Promise<boolean> {
  try {
    await link(written, file);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    return (await readFile(file, "utf8")) === message;
  }
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
