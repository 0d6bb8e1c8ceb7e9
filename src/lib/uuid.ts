/** Formats the first 16 bytes as a UUID. */
export function bytesToUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The nil UUID: before every other one in order, and nobody's id. */
export const NIL_UUID = "00000000-0000-0000-0000-000000000000";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID in its usual form. */
export const isUuid = (text: string): boolean => UUID.test(text);
