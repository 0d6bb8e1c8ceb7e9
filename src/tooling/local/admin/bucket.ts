/** The snapshot bucket over its S3 endpoint, for the admin commands. */
import { stat } from "node:fs/promises";
import { AwsClient } from "aws4fetch";
import { upload } from "../../../cli/transfer/upload.ts";
import { OperatorError } from "../../errors.ts";

const TIMEOUT_MS = 300_000;
/** R2 has one region. */
const REGION = "auto";

interface StoredObject {
  key: string;
  size: number;
}

export interface Bucket {
  list(prefix?: string): AsyncGenerator<StoredObject>;
  /** Streams an object. Throws `OperatorError` if it does not exist. */
  get(key: string): Promise<ReadableStream<Uint8Array>>;
  /** Stores a file as an object; the store refuses one with another SHA-256 (hexadecimal). */
  put(key: string, file: string, sha256: string): Promise<void>;
}

interface BucketAddress {
  /** `SNAPSHOTS_S3_URL`: endpoint and bucket. */
  url: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Opens the bucket. Calls that fail are retried; every one has a time limit. */
export function openBucket({ url, accessKeyId, secretAccessKey }: BucketAddress): Bucket {
  const client = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", region: REGION, retries: 3 });
  const read = async (path: string, query: Record<string, string> = {}): Promise<Response> => {
    const address = new URL(url + path);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    const response = await client.fetch(address.href, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.ok) return response;
    const reason = /<Code>([^<]*)<\/Code>/.exec(await response.text())?.[1] ?? "";
    throw new OperatorError(`the bucket answered ${response.status} ${reason} to GET ${path || "/"}`);
  };
  const pathOf = (key: string) => `/${key.split("/").map(encodeURIComponent).join("/")}`;
  return {
    async *list(prefix = "") {
      const query: Record<string, string> = { "list-type": "2", prefix };
      for (;;) {
        const page = await (await read("", query)).text();
        for (const entry of page.split("<Contents>").slice(1)) {
          const field = (name: string) => unescapeXml(new RegExp(`<${name}>([^<]*)</${name}>`).exec(entry)?.[1] ?? "");
          yield { key: field("Key"), size: Number(field("Size")) };
        }
        const next = /<NextContinuationToken>([^<]*)</.exec(page)?.[1];
        if (next === undefined) return;
        query["continuation-token"] = unescapeXml(next);
      }
    },
    get: async (key) => (await read(pathOf(key))).body ?? new Blob([]).stream(),
    put: async (key, file, sha256) => {
      const target = async () => {
        const headers = { "X-Amz-Content-Sha256": sha256 };
        const signed = await client.sign(url + pathOf(key), { method: "PUT", headers });
        return { url: signed.url, headers: Object.fromEntries(signed.headers) };
      };
      const options = { signal: new AbortController().signal, renew: target };
      await upload(await target(), file, (await stat(file)).size, options).catch((error: unknown) => {
        throw new OperatorError(`object ${key}: ${error instanceof Error ? error.message : String(error)}`);
      });
    },
  };
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_match, name: string) => ENTITIES[name] ?? "");
}
