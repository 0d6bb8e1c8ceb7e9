/**
 * What the schemas make of plain valid answers, in a fraction of their time and without the schema library, which takes
 * longer to load than a pull's requests take together. Each returns undefined for anything that only the schema can judge. A
 * test holds the two together.
 */
import type { EmbedCheckResponse, EmbedResponse } from "./metering.ts";
import type { ProbeResponse, PullResponse, SnapshotManifest } from "./snapshots.ts";
import { isCount, isRecord, isShortText, isText } from "../shape.ts";
import { MAX_SNAPSHOT_BYTES } from "./limits.ts";

function fieldsOf(data: unknown): Record<string, unknown> | undefined {
  return isRecord(data) ? data : undefined;
}

const isPositive = (value: unknown): value is number => isCount(value) && value > 0;

/** As `Date` writes it; other forms are for the schema. */
function isTime(value: unknown): value is string {
  if (!isText(value) || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return false;
  const ms = Date.parse(value);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === value;
}

export function plainEmbedCheckResponse(data: unknown): EmbedCheckResponse | undefined {
  const { ok, fingerprint, dimension } = fieldsOf(data) ?? {};
  return ok === true && isText(fingerprint) && isPositive(dimension) ? { ok, fingerprint, dimension } : undefined;
}

export function plainEmbedResponse(data: unknown): EmbedResponse | undefined {
  const { embeddings, usage } = fieldsOf(data) ?? {};
  const check = plainEmbedCheckResponse(data);
  const credits = fieldsOf(usage)?.["credits"];
  if (!check || !Array.isArray(embeddings) || !isCount(credits)) return undefined;
  const rows: EmbedResponse["embeddings"] = [];
  for (const row of embeddings) {
    const { index, vector } = fieldsOf(row) ?? {};
    if (!isCount(index) || !Array.isArray(vector) || !vector.every(Number.isFinite)) return undefined;
    rows.push({ index, vector: vector as number[] });
  }
  return { ...check, embeddings: rows, usage: { credits } };
}

export function plainProbeResponse(data: unknown): ProbeResponse | undefined {
  const { ok, exists, ...snapshot } = fieldsOf(data) ?? {};
  if (ok !== true) return undefined;
  if (exists === false) return { ok, exists };
  const { gitSha, builtAt, sizeBytes, fileCount, symbolCount, embeddingModel, isCurrent } = snapshot;
  const isPlain =
    exists === true &&
    isText(gitSha) &&
    isTime(builtAt) &&
    isCount(sizeBytes) &&
    isCount(fileCount) &&
    isCount(symbolCount) &&
    isText(embeddingModel) &&
    typeof isCurrent === "boolean";
  return isPlain
    ? { ok, exists, gitSha, builtAt, sizeBytes, fileCount, symbolCount, embeddingModel, isCurrent }
    : undefined;
}

export function plainPullResponse(data: unknown): PullResponse | undefined {
  const { ok, manifest, signedUrl, expiresIn } = fieldsOf(data) ?? {};
  const isPlain = ok === true && isPlainManifest(manifest) && isText(signedUrl) && isCount(expiresIn);
  return isPlain ? { ok, manifest, signedUrl, expiresIn } : undefined;
}

function isPlainManifest(data: unknown): data is SnapshotManifest {
  const manifest = fieldsOf(data);
  const embedding = fieldsOf(manifest?.["embedding"]);
  if (!manifest || !embedding) return false;
  const { formatVersion, gitSha, checksum, compression, fileCount, symbolCount, sizeBytes } = manifest;
  return (
    isPositive(formatVersion) &&
    isText(gitSha) &&
    /^[0-9a-f]{7,64}$/.test(gitSha) &&
    isText(checksum) &&
    /^sha256:[0-9a-f]{64}$/.test(checksum) &&
    isShortText(compression, 40) &&
    isCount(fileCount) &&
    isCount(symbolCount) &&
    isShortText(embedding["fingerprint"], 200) &&
    isPositive(embedding["dimension"]) &&
    (!("sizeBytes" in manifest) || (isPositive(sizeBytes) && sizeBytes <= MAX_SNAPSHOT_BYTES))
  );
}
