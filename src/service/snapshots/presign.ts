import { AwsClient } from "aws4fetch";

/** An object store that speaks S3: production R2, or the local stack's endpoint. */
interface PresignerConfig {
  /** URL of the bucket: `https://<account>.r2.cloudflarestorage.com/<bucket>`. */
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
}

interface SignedUpload {
  url: string;
  /** Headers that are part of the signature and that an HTTP client does not send by itself. */
  headers: Record<string, string>;
}

/** Signs URLs. Whoever has one may do one operation on one object until it expires, without another credential. */
export interface Presigner {
  /** A PUT of exactly `sizeBytes` bytes with this SHA-256, which the store verifies. */
  upload(key: string, options: { sha256: string; sizeBytes: number; expiresInSec: number }): Promise<SignedUpload>;
  /** A GET of the whole object or of ranges. */
  download(key: string, options: { expiresInSec: number }): Promise<string>;
}

/** R2 has one region. */
const REGION = "auto";

/** Makes a presigner; undefined if the store's address or credentials are not configured. */
export function createPresigner(config: PresignerConfig): Presigner | undefined {
  const { endpoint, accessKeyId, secretAccessKey } = config;
  if (endpoint === "" || accessKeyId === "" || secretAccessKey === "" || !URL.canParse(endpoint)) return undefined;
  const client = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", region: REGION });
  const base = endpoint.replace(/\/+$/, "");

  async function presign(
    method: "GET" | "PUT",
    key: string,
    headers: Record<string, string>,
    expiresInSec: number,
  ): Promise<string> {
    const url = new URL(`${base}/${key}`);
    // It is signed too, so it must be in the URL before signing.
    url.searchParams.set("X-Amz-Expires", String(expiresInSec));
    // `allHeaders` because Content-Length is otherwise taken for a header that proxies may change.
    const signed = await client.sign(url.href, { method, headers, aws: { signQuery: true, allHeaders: true } });
    return signed.url;
  }

  return {
    async upload(key, { sha256, sizeBytes, expiresInSec }) {
      const headers = { "x-amz-checksum-sha256": Buffer.from(sha256, "hex").toString("base64") };
      const bound = { ...headers, "content-length": String(sizeBytes) };
      return { url: await presign("PUT", key, bound, expiresInSec), headers };
    },
    download: (key, { expiresInSec }) => presign("GET", key, {}, expiresInSec),
  };
}
