import type { Delivery, Mail } from "./types.ts";

/** Headers with the recipient and the time, from which the local mailbox derives the file's name. */
export const MAILBOX_RECIPIENT_HEADER = "X-Recipient";
export const MAILBOX_TIME_HEADER = "X-Time";

/**
 * Formats a message as an .eml file (RFC 5322, MIME multipart/alternative). The bodies are 8-bit UTF-8, so that they can be read
 * and searched as plain text. The same delivery gives the same text.
 */
export function toEml(mail: Mail, from: string, { id, at }: Delivery): string {
  const boundary = `part-${id}`;
  const part = (type: string, body: string) => [
    `--${boundary}`,
    `Content-Type: ${type}; charset=utf-8`,
    "Content-Transfer-Encoding: 8bit",
    "",
    body.replace(/\r?\n/g, "\r\n"),
    "",
  ];
  return [
    `Date: ${at.toUTCString().replace("GMT", "+0000")}`,
    `From: ${encodeHeader(from)}`,
    `To: ${encodeHeader(mail.to)}`,
    `Subject: ${encodeHeader(mail.subject)}`,
    `Message-ID: <${id}@code-context.local>`,
    "MIME-Version: 1.0",
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    "",
    ...part("text/plain", mail.text),
    ...part("text/html", mail.html),
    `--${boundary}--`,
    "",
  ].join("\r\n");
}

/** Encodes a header's value on one line; as RFC 2047 if it is not ASCII. */
function encodeHeader(value: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is removed
  const line = value.replace(/[\u0000-\u001f\u007f]+/g, " ");
  // oxlint-disable-next-line no-control-regex -- everything that is ASCII
  return /^[\u0000-\u007f]*$/.test(line) ? line : `=?utf-8?B?${Buffer.from(line).toString("base64")}?=`;
}
