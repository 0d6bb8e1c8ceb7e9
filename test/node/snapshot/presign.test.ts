import { createHash, randomBytes } from "node:crypto";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPresigner, type Presigner } from "../../../src/snapshot/publish/presign.ts";

const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local-secret" };
const KEY = "snapshots/0b5e/x_-.parquet";
const bytes = new Uint8Array(randomBytes(5_000));
const sha256 = createHash("sha256").update(bytes).digest("hex");

let miniflare: Miniflare;
let presigner: Presigner;

const put = (url: string, headers: Record<string, string>, body: Uint8Array = bytes) =>
  fetch(url, { method: "PUT", headers, body });
const upload = (key: string, expiresInSec = 60) =>
  presigner.upload(key, { sha256, sizeBytes: bytes.length, expiresInSec });

/** Against the S3 endpoint that the local stack serves its bucket at; R2 checks signatures the same way. */
describe("signed URLs", () => {
  beforeAll(async () => {
    miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: "export default { fetch: () => new Response() }",
        r2Buckets: { SNAPSHOTS: { id: "snapshots-test", s3Credentials: CREDENTIALS } },
      }),
    );
    const { origin } = await miniflare.ready;
    presigner = createPresigner({
      endpoint: `${origin}/cdn-cgi/local/r2/s3/snapshots-test/`,
      ...CREDENTIALS,
    }) as Presigner;
  });

  afterAll(() => miniflare.dispose());

  it("let their bearer upload, and download whole or in ranges", async () => {
    const { url, headers } = await upload(KEY);
    expect((await put(url, headers)).status).toBe(200);
    const download = await presigner.download(KEY, { expiresInSec: 60 });
    expect(new Uint8Array(await (await fetch(download)).arrayBuffer())).toEqual(bytes);
    const part = await fetch(download, { headers: { Range: "bytes=10-19" } });
    expect(part.status).toBe(206);
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(bytes.subarray(10, 20));
  });

  it("bind path, method, length and checksum", async () => {
    const { url, headers } = await upload("uploads/one");
    const refused = async (response: Promise<Response>) => expect([400, 403]).toContain((await response).status);
    await refused(put(url.replace("uploads/one", "uploads/two"), headers));
    await refused(fetch(url, { method: "DELETE", headers }));
    await refused(fetch(url));
    await refused(put(url, headers, bytes.subarray(1)));
    await refused(put(url, {}));
    await refused(put(url, { ...headers, "x-amz-checksum-sha256": Buffer.alloc(32).toString("base64") }));
    await refused(put(url.replace(/(X-Amz-Signature=)./, "$1_"), headers));
    await refused(put(url.replace(/X-Amz-Expires=\d+/, "X-Amz-Expires=600000"), headers));
    await refused(put(url.replace(/\?.*/, ""), headers));
    const read = await presigner.download("uploads/one", { expiresInSec: 60 });
    await refused(put(read, headers));
    expect((await fetch(await presigner.download("uploads/one", { expiresInSec: 60 }))).status).toBe(404);
    expect((await put(url, headers)).status).toBe(200);
  });

  it("expire", async () => {
    const { url, headers } = await upload("uploads/late", 1);
    const download = await presigner.download(KEY, { expiresInSec: 1 });
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect((await put(url, headers)).status).toBe(403);
    expect((await fetch(download)).status).toBe(403);
  });

  it("are not minted without an address and credentials", () => {
    const config = { endpoint: "https://x.example/bucket", ...CREDENTIALS };
    expect(createPresigner(config)).toBeDefined();
    for (const missing of [
      { endpoint: "" },
      { accessKeyId: "" },
      { secretAccessKey: "" },
      { endpoint: "no address" },
    ]) {
      expect(createPresigner({ ...config, ...missing })).toBeUndefined();
    }
  });
});
