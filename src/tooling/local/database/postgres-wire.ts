/**
 * The few messages of PostgreSQL's frontend/backend protocol 3.0 that a query needs, in text format both ways.
 * https://www.postgresql.org/docs/18/protocol-message-formats.html
 */

/** A column as Neon's `/sql` protocol describes it. */
export interface WireField {
  name: string;
  tableID: number;
  columnID: number;
  dataTypeID: number;
  dataTypeSize: number;
  dataTypeModifier: number;
  format: "text";
}

/** The fields of an ErrorResponse, under the names that Postgres drivers use. */
export type WireError = Record<string, string> & { message: string };

export interface WireResult {
  fields: WireField[];
  /** Values in Postgres' text form; null for NULL. */
  rows: (string | null)[][];
  /** Command tag without its counts, `INSERT`. */
  command: string;
  rowCount: number | null;
  error: WireError | undefined;
  /** `I` idle, `T` in a transaction, `E` in a failed one. */
  status: string;
}

const ERROR_FIELDS: Record<string, string> = {
  V: "severity",
  C: "code",
  M: "message",
  D: "detail",
  H: "hint",
  P: "position",
  p: "internalPosition",
  q: "internalQuery",
  W: "where",
  s: "schema",
  t: "table",
  c: "column",
  d: "dataType",
  n: "constraint",
  F: "file",
  L: "line",
  R: "routine",
};

/**
 * Describe portal, Execute without a row limit, CopyFail, Sync: the constant end of every query. CopyFail ends a `COPY … FROM
 * STDIN`, which would otherwise wait for data that never comes; the server ignores it after any other statement.
 */
const QUERY_END = Buffer.from("44000000065000450000000900000000006600000005005300000004", "hex");

/**
 * One query as a single message: Parse, Bind, Describe, Execute, Sync. Types of parameters are left to the server and
 * their values go as text. At most 65,535 parameters.
 */
export function encodeQuery(text: string, params: readonly (string | null)[]): Buffer {
  const textBytes = Buffer.byteLength(text);
  const sizes = params.map((value) => (value === null ? 0 : Buffer.byteLength(value)));
  const parseLength = 4 + 1 + textBytes + 1 + 2;
  const bindLength = sizes.reduce((sum, size) => sum + 4 + size, 4 + 1 + 1 + 2 + 2 + 2);
  const message = Buffer.allocUnsafe(1 + parseLength + 1 + bindLength + QUERY_END.length);

  let at = message.writeUInt8(0x50, 0); // P
  at = message.writeUInt32BE(parseLength, at);
  at = message.writeUInt8(0, at); // unnamed statement
  at += message.write(text, at, "utf8");
  at = message.writeUInt8(0, at);
  at = message.writeUInt16BE(0, at); // no parameter types given

  at = message.writeUInt8(0x42, at); // B
  at = message.writeUInt32BE(bindLength, at);
  at = message.writeUInt16BE(0, at); // unnamed portal, unnamed statement
  at = message.writeUInt16BE(0, at); // all parameters are text
  at = message.writeUInt16BE(params.length, at);
  for (const [i, value] of params.entries()) {
    if (value === null) {
      at = message.writeInt32BE(-1, at);
    } else {
      at = message.writeUInt32BE(sizes[i] ?? 0, at);
      at += message.write(value, at, "utf8");
    }
  }
  at = message.writeUInt16BE(0, at); // all results as text
  QUERY_END.copy(message, at);
  return message;
}

/** Reads the backend's answer to one query. Messages that carry nothing for the caller (notices, settings) are skipped. */
export function decodeResult(bytes: Uint8Array): WireResult {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const result: WireResult = { fields: [], rows: [], command: "", rowCount: null, error: undefined, status: "I" };
  for (let at = 0; at + 5 <= data.length;) {
    const type = data[at];
    const end = at + 1 + data.readUInt32BE(at + 1);
    const body = at + 5;
    if (type === 0x44) result.rows.push(readRow(data, body)); // D
    else if (type === 0x54) result.fields = readFields(data, body); // T
    else if (type === 0x43) readTag(data.toString("utf8", body, end - 1), result); // C
    else if (type === 0x45) result.error ??= readError(data, body); // E
    else if (type === 0x5a) result.status = data.toString("latin1", body, body + 1); // Z
    at = end;
  }
  return result;
}

function readRow(data: Buffer, start: number): (string | null)[] {
  const count = data.readUInt16BE(start);
  const row: (string | null)[] = [];
  let at = start + 2;
  for (let i = 0; i < count; i++) {
    const length = data.readInt32BE(at);
    at += 4;
    row.push(length < 0 ? null : data.toString("utf8", at, at + length));
    if (length > 0) at += length;
  }
  return row;
}

function readFields(data: Buffer, start: number): WireField[] {
  const count = data.readUInt16BE(start);
  const fields: WireField[] = [];
  let at = start + 2;
  for (let i = 0; i < count; i++) {
    const end = data.indexOf(0, at);
    const name = data.toString("utf8", at, end);
    at = end + 1;
    fields.push({
      name,
      tableID: data.readUInt32BE(at),
      columnID: data.readInt16BE(at + 4),
      dataTypeID: data.readUInt32BE(at + 6),
      dataTypeSize: data.readInt16BE(at + 10),
      dataTypeModifier: data.readInt32BE(at + 12),
      format: "text",
    });
    at += 18;
  }
  return fields;
}

function readTag(tag: string, result: WireResult): void {
  const words = tag.split(" ");
  const last = words.at(-1) ?? "";
  result.command = words[0] ?? "";
  result.rowCount = /^\d+$/.test(last) ? Number(last) : null;
}

function readError(data: Buffer, start: number): WireError {
  const error: WireError = { message: "unknown error" };
  for (let at = start; data[at] !== 0 && at < data.length;) {
    const end = data.indexOf(0, at + 1);
    const name = ERROR_FIELDS[String.fromCharCode(data[at] ?? 0)];
    if (name !== undefined) error[name] = data.toString("utf8", at + 1, end);
    at = end + 1;
  }
  return error;
}
