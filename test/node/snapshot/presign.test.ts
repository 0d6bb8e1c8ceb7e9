import { createHash, randomBytes } from "node:crypto";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../src/tooling/local/stack/ports.ts";
import { createPresigner, type Presigner } from "../../../src/service/snapshots/presign.ts";

const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local-secret" };
const KEY = "snapshots/0b5e/x_-.parquet";
const bytes = new Uint8Array(randomBytes(5_000));
const sha256 = createHash("sha256").update(bytes).digest("hex");

/** Signed, so it stays the same when the store's options change. */
let port: number;
let miniflare: Miniflare;
let presigner: Presigner;

const put = (url: string, headers: Record<string, string>, body: Uint8Array = bytes) =>
  fetch(url, { method: "PUT", headers, body });
const upload = (key: string, expiresInSec = 60) =>
  presigner.upload(key, { sha256, sizeBytes: bytes.length, expiresInSec });

/** A store that accepts one key; Miniflare has no second one for a bucket, as R2 has. */
const storeWith = (s3Credentials: typeof CREDENTIALS) =>
  convertV4MiniflareOptions({
    port,
    modules: true,
    script: "export default { fetch: () => new Response() }",
    r2Buckets: { SNAPSHOTS: { id: "snapshots-test", s3Credentials } },
  });

async function presignerWith(credentials: typeof CREDENTIALS): Promise<Presigner> {
  const { origin } = await miniflare.ready;
  const endpoint = `${origin}/cdn-cgi/local/r2/s3/snapshots-test/`;
  return createPresigner({ endpoint, ...credentials }) as Presigner;
}

/** Against the S3 endpoint that the local stack serves its bucket at; R2 checks signatures the same way. */
describe("signed URLs", () => {
  beforeAll(async () => {
    port = await freePort();
    miniflare = new Miniflare(storeWith(CREDENTIALS));
    presigner = await presignerWith(CREDENTIALS);
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

  it("name the key that signed them, and stop with it when it is deleted after a rotation", async () => {
    const next = { accessKeyId: "next", secretAccessKey: "next-secret" };
    const keyOf = (url: string) => new URL(url).searchParams.get("X-Amz-Credential")?.split("/")[0];
    const before = {
      read: await presigner.download(KEY, { expiresInSec: 60 }),
      write: await upload("uploads/rotated"),
    };
    const rotated = await presignerWith(next);
    expect([before.read, before.write.url].map(keyOf)).toEqual(["local", "local"]);
    // The service signs with the new key, and the old one is still there.
    expect(keyOf(await rotated.download(KEY, { expiresInSec: 60 }))).toBe("next");
    expect((await put(before.write.url, before.write.headers)).status).toBe(200);
    expect((await fetch(before.read)).status).toBe(200);
    await miniflare.setOptions(storeWith(next));
    const after = await presignerWith(next);
    // Stores differ in the status for an unknown key.
    expect([401, 403]).toContain((await fetch(before.read)).status);
    for (const key of [KEY, "uploads/rotated"]) {
      const { body } = await fetch(await after.download(key, { expiresInSec: 60 }));
      expect(new Uint8Array(await new Response(body).arrayBuffer())).toEqual(bytes);
    }
    await miniflare.setOptions(storeWith(CREDENTIALS));
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
