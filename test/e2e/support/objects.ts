/** The objects of a local service's bucket, to look at and to damage, over its S3 endpoint. */
import { AwsClient } from "aws4fetch";
import { openBucket } from "../../../src/tooling/local/admin/bucket.ts";
import { localBucketUrl } from "../../../src/tooling/local/stack/bucket-url.ts";
import { localSecrets } from "../../../src/tooling/local/stack/local-secrets.ts";
import { SEARCH_PREFIX } from "../../../src/service/hosted-index/store.ts";

/** Kinds of objects of the search index, by the folder they are in. */
export const SEARCH_KINDS = ["segments", "tables", "vectors"] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

export class SearchObjects {
  readonly #url: string;
  readonly #credentials: { accessKeyId: string; secretAccessKey: string };

  constructor({ apiUrl, dataDir }: { apiUrl: string; dataDir: string }) {
    const { r2AccessKeyId, r2SecretAccessKey } = localSecrets(dataDir);
    this.#url = localBucketUrl(apiUrl);
    this.#credentials = { accessKeyId: r2AccessKeyId, secretAccessKey: r2SecretAccessKey };
  }

  /** Keys of a tenant's objects, or of all tenants', of one kind or all. */
  async keys(tenantId = "", kind?: SearchKind): Promise<string[]> {
    const keys: string[] = [];
    const bucket = openBucket({ url: this.#url, ...this.#credentials });
    for await (const { key } of bucket.list(SEARCH_PREFIX + tenantId)) {
      if (kind === undefined || key.includes(`/${kind}/`)) keys.push(key);
    }
    return keys;
  }

  /** Inverts a bit of each byte. */
  async damage(key: string): Promise<void> {
    const bytes = new Uint8Array(await (await this.#send("GET", key)).arrayBuffer());
    await this.#send(
      "PUT",
      key,
      bytes.map((byte) => byte ^ 0x10),
    );
  }

  async delete(key: string): Promise<void> {
    await this.#send("DELETE", key);
  }

  async #send(method: string, key: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> {
    const client = new AwsClient({ ...this.#credentials, service: "s3", region: "auto" });
    const response = await client.fetch(`${this.#url}/${key}`, { method, ...(body && { body }) });
    if (response.ok) return response;
    throw new Error(`${method} ${key}: ${response.status} ${await response.text()}`);
  }
}
