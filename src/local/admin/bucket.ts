/** The snapshot bucket over its S3 endpoint, for the admin commands. */
import { AwsClient } from "aws4fetch";
import { StartError } from "../errors.ts";

const TIMEOUT_MS = 300_000;
/** R2 has one region. */
const REGION = "auto";

export interface StoredObject {
  key: string;
  size: number;
}

export interface Bucket {
  list(prefix?: string): AsyncGenerator<StoredObject>;
  /** Streams an object. Throws `StartError` if it does not exist. */
  get(key: string): Promise<ReadableStream<Uint8Array>>;
  /** Stores an object; the store refuses a body with another SHA-256 (hexadecimal). */
  put(key: string, body: Blob, sha256: string): Promise<void>;
}

export interface BucketAddress {
  /** `SNAPSHOTS_S3_URL`: endpoint and bucket. */
  url: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Opens the bucket. Calls are retried by the client; every one has a time limit. */
export function openBucket({ url, accessKeyId, secretAccessKey }: BucketAddress): Bucket {
  const client = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", region: REGION, retries: 3 });
  const send = async (path: string, init: RequestInit & { query?: Record<string, string> } = {}): Promise<Response> => {
    const { query, ...rest } = init;
    const address = new URL(url + path);
    for (const [name, value] of Object.entries(query ?? {})) address.searchParams.set(name, value);
    const response = await client.fetch(address.href, { ...rest, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.ok) return response;
    const reason = /<Code>([^<]*)<\/Code>/.exec(await response.text())?.[1] ?? "";
    throw new StartError(`the bucket answers ${response.status} ${reason} to ${init.method ?? "GET"} ${path || "/"}`);
  };
  const pathOf = (key: string) => `/${key.split("/").map(encodeURIComponent).join("/")}`;
  return {
    async *list(prefix = "") {
      const query: Record<string, string> = { "list-type": "2", prefix };
      for (;;) {
        const page = await (await send("", { query })).text();
        for (const entry of page.split("<Contents>").slice(1)) {
          const field = (name: string) => unescapeXml(new RegExp(`<${name}>([^<]*)</${name}>`).exec(entry)?.[1] ?? "");
          yield { key: field("Key"), size: Number(field("Size")) };
        }
        const next = /<NextContinuationToken>([^<]*)</.exec(page)?.[1];
        if (next === undefined) return;
        query["continuation-token"] = unescapeXml(next);
      }
    },
    get: async (key) => (await send(pathOf(key))).body ?? new Blob([]).stream(),
    put: async (key, body, sha256) => {
      await send(pathOf(key), { method: "PUT", body, headers: { "X-Amz-Content-Sha256": sha256 } });
    },
  };
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_match, name: string) => ENTITIES[name] ?? "");
}
