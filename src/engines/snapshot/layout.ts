/**
 * Layout of the artifact: one Parquet schema for rows of four kinds, in this order for every file: the file itself, its
 * symbols, its chunks, its uses of names. docs/snapshot-format.md describes it for readers in other languages.
 */
import type { SchemaElement } from "hyparquet";
import { isCount, isShortText, isText } from "../../lib/shape.ts";
import type { SnapshotHeader } from "./types.ts";

/** The version that is written. Version 3 has no uses, version 2 no search segments either; version 1 also has another compressor. */
export const SNAPSHOT_FORMAT_VERSION = 4;
const READABLE_VERSIONS = new Set<unknown>([1, 2, 3, SNAPSHOT_FORMAT_VERSION]);
/** Key of the JSON header among the Parquet key-value metadata. */
export const HEADER_KEY = "code_context";
export const CREATED_BY = "code-context";
/** Used for every page, even if it saves nothing, because gzip's CRC-32 detects damage. */
export const COMPRESSION = "gzip";
export const CODEC = "GZIP";

/** A row group ends with the row that brings it to this weight, which bounds the memory of readers. */
export const GROUP_WEIGHT = 6 * 1024 * 1024;
/** Weight of a row without its text and vector. */
export const ROW_WEIGHT = 64;
export const HASH_BYTES = 32;

/** Limits of readers. A writer's row groups stay far below them unless a single row is very large. */
export const MAX_GROUP_BYTES = 128 * 1024 * 1024;
export const MAX_PAGE_BYTES = 64 * 1024 * 1024;
export const MAX_GROUP_ROWS = 262_144;
export const MAX_FOOTER_BYTES = 16 * 1024 * 1024;
export const MAX_PAGE_HEADER_BYTES = 64 * 1024;
const MAX_DIMENSION = 16_384;
const MAX_FINGERPRINT_CHARACTERS = 200;

type ColumnType = "string" | "hash" | "int";

export interface Column {
  name: string;
  type: ColumnType;
  required: boolean;
  encoding: "RLE_DICTIONARY" | "PLAIN" | "DELTA_BINARY_PACKED";
  /** Smallest and largest value of each group, so that engines can skip groups. */
  statistics: boolean;
}

function column<Name extends string, Type extends ColumnType>(
  name: Name,
  type: Type,
  options: Partial<Column> = {},
): Column & { name: Name; type: Type } {
  const encoding = type === "int" ? "DELTA_BINARY_PACKED" : "PLAIN";
  return { required: false, encoding, statistics: false, ...options, name, type };
}

const dictionary = { encoding: "RLE_DICTIONARY" } as const;
const required = { required: true } as const;

/** Every column but `vector`, which comes last and is encoded by vector-column.ts. */
export const COLUMNS = [
  column("kind", "string", { ...dictionary, ...required }),
  column("path", "string", { ...dictionary, ...required, statistics: true }),
  column("language", "string", { ...dictionary, ...required }),
  column("content_hash", "hash", { ...dictionary, ...required }),
  column("outcome", "string", dictionary),
  column("ordinal", "int"),
  column("parent", "int"),
  column("symbol_kind", "string", dictionary),
  column("name", "string", dictionary),
  column("qualified_name", "string", dictionary),
  column("signature", "string"),
  column("doc", "string"),
  column("start_line", "int", required),
  column("end_line", "int", required),
  column("start_byte", "int", required),
  column("end_byte", "int", required),
  column("context", "string"),
  column("text", "string"),
  column("chunk_hash", "hash"),
] as const satisfies readonly Column[];

export const VECTOR_PATH = ["vector", "list", "element"];

function schemaElement({ name, type, required }: Column): SchemaElement {
  const repetition_type = required ? "REQUIRED" : "OPTIONAL";
  if (type === "string")
    return { name, repetition_type, type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } };
  if (type === "hash") return { name, repetition_type, type: "FIXED_LEN_BYTE_ARRAY", type_length: HASH_BYTES };
  return { name, repetition_type, type: "INT32" };
}

/** The whole schema as Parquet lists it: depth first from the root. */
export const SCHEMA: SchemaElement[] = [
  { name: "snapshot", num_children: COLUMNS.length + 1 },
  ...COLUMNS.map(schemaElement),
  {
    name: "vector",
    repetition_type: "OPTIONAL",
    num_children: 1,
    converted_type: "LIST",
    logical_type: { type: "LIST" },
  },
  { name: "list", repetition_type: "REPEATED", num_children: 1 },
  {
    name: "element",
    repetition_type: "REQUIRED",
    type: "FIXED_LEN_BYTE_ARRAY",
    type_length: 2,
    logical_type: { type: "FLOAT16" },
  },
];

/** Whether this program can read artifacts of this version. */
export function isReadableVersion(version: unknown): boolean {
  return READABLE_VERSIONS.has(version);
}

/** Checks of the header's members. Written by hand because loading a schema library takes longer than reading a snapshot. */
const HEADER_MEMBERS: Record<keyof SnapshotHeader, (value: unknown) => boolean> = {
  formatVersion: isReadableVersion,
  gitSha: (value) => isText(value) && /^[0-9a-f]{7,64}$/.test(value),
  fingerprint: (value) => isShortText(value, MAX_FINGERPRINT_CHARACTERS),
  dimension: (value) => isCount(value) && value > 0 && value <= MAX_DIMENSION,
  vectorType: (value) => value === "float16",
  parserVersion: isCount,
  fileCount: isCount,
  symbolCount: isCount,
  chunkCount: isCount,
  useCount: isCount,
  vectorCount: isCount,
};

/** Whether headers and file lists of a version count uses. */
export function countsUses(version: number): boolean {
  return version >= 4;
}

/** Name of the first header member that is invalid or unknown; undefined for a valid header. */
export function headerFault(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "header";
  const header = value as Record<string, unknown>;
  const members = new Map(Object.entries(HEADER_MEMBERS));
  if (!countsUses(Number(header["formatVersion"]))) members.delete("useCount");
  const wrong = [...members].find(([name, isRight]) => !isRight(header[name]));
  return wrong?.[0] ?? Object.keys(header).find((name) => !members.has(name));
}
