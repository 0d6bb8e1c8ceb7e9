import { Buffer } from "node:buffer";
import * as nodeCrypto from "node:crypto";
import { corrupt } from "./errors.ts";

export type ObjectFormat = "sha1" | "sha256";

export const OBJ_COMMIT = 1;
export const OBJ_TREE = 2;
export const OBJ_BLOB = 3;
export const OBJ_TAG = 4;
export const OBJ_OFS_DELTA = 6;
export const OBJ_REF_DELTA = 7;
export type ObjectType = typeof OBJ_COMMIT | typeof OBJ_TREE | typeof OBJ_BLOB | typeof OBJ_TAG;

/** Bytes of an object id. */
export const oidBytes = (format: ObjectFormat): number => (format === "sha1" ? 20 : 32);

/** Free bytes needed before an object's content: the header goes there, so that one call hashes both. */
export const HEADER_ROOM_BYTES = 32;

const HEADER_PREFIXES: Readonly<Record<ObjectType, Uint8Array>> = {
  [OBJ_COMMIT]: Buffer.from("commit "),
  [OBJ_TREE]: Buffer.from("tree "),
  [OBJ_BLOB]: Buffer.from("blob "),
  [OBJ_TAG]: Buffer.from("tag "),
};

// The one-shot form is about twice as fast; older runtimes lack it.
const oneShot: typeof nodeCrypto.hash | undefined = nodeCrypto.hash;

/** Hash of one run of bytes, as lower-case hex. */
function digestHex(format: ObjectFormat, bytes: Uint8Array): string {
  return typeof oneShot === "function"
    ? oneShot(format, bytes, "hex")
    : nodeCrypto.createHash(format).update(bytes).digest("hex");
}

/** Writes `"<type> <size>\0"` so that it ends at `buf[at]`; returns where it starts. */
export function writeHeader(type: ObjectType, size: number, buf: Uint8Array, at: number): number {
  let p = at - 1;
  buf[p] = 0;
  let rest = size;
  do {
    buf[--p] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  } while (rest > 0);
  const prefix = HEADER_PREFIXES[type];
  p -= prefix.length;
  for (let i = 0; i < prefix.length; i++) buf[p + i] = prefix[i]!;
  return p;
}

/** Id of the object whose content is `buf[start, end)`, with {@link HEADER_ROOM_BYTES} free bytes before it. */
export function hashInPlace(
  format: ObjectFormat,
  type: ObjectType,
  buf: Uint8Array,
  start: number,
  end: number,
): string {
  return digestHex(format, buf.subarray(writeHeader(type, end - start, buf, start), end));
}

/** Id of an object whose content has no free bytes before it. */
export function hashObject(format: ObjectFormat, type: ObjectType, content: Uint8Array): string {
  const header = new Uint8Array(HEADER_ROOM_BYTES);
  const from = writeHeader(type, content.length, header, HEADER_ROOM_BYTES);
  return nodeCrypto.createHash(format).update(header.subarray(from)).update(content).digest("hex");
}

/** Incremental hash, for data that is never in memory as a whole. */
export const newHash = (format: ObjectFormat): nodeCrypto.Hash => nodeCrypto.createHash(format);

const HEX_BYTE: readonly string[] = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));

/** `bytes[start, start + length)` as lower-case hex. */
export function toHex(bytes: Uint8Array, start: number, length: number): string {
  let out = "";
  for (let i = start; i < start + length; i++) out += HEX_BYTE[bytes[i]!]!;
  return out;
}

const OID = { sha1: /^[\da-f]{40}$/, sha256: /^[\da-f]{64}$/ } as const;

export const isOid = (format: ObjectFormat, text: string): boolean => OID[format].test(text);

/** The header fields of a commit (`tree`, `parent`s) or a tag (`object`, `type`) that matter here. */
export function headerField(content: Uint8Array, name: string): string {
  const text = Buffer.from(content.buffer, content.byteOffset, Math.min(content.length, 4096)).toString("latin1");
  const match = new RegExp(`^(?:[^\\n]+\\n)*?${name} ([^\\n]+)\\n`).exec(text);
  if (match?.[1] === undefined) throw corrupt(`commit or tag without "${name}"`);
  return match[1];
}
