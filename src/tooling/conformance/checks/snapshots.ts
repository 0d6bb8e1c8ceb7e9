/** Shared snapshots, and what signed URLs of the storage let through. They publish a few bytes under a repository name of their own. */
import { createHash, randomBytes } from "node:crypto";
import { answered, type Answer, type Check, equal, holds, refused, type ServiceUnderTest } from "../target.ts";

/** One workspace for all runs: unknown repositories get a workspace of the tenant's hundred. */
const REPO = "conformance.example/code-context/probe";
const SELECTOR = `repo=${encodeURIComponent(REPO)}`;
const UNKNOWN = "00000000-0000-4000-8000-000000000000";

interface Artifact {
  bytes: Uint8Array<ArrayBuffer>;
  manifest: Record<string, unknown>;
}

/** An artifact with content that no other run has. */
async function newArtifact(target: ServiceUnderTest): Promise<Artifact> {
  const bytes = new Uint8Array(randomBytes(1_000));
  const { body } = await target.call("/embed", { as: "apiKey" });
  const { fingerprint, dimension } = body;
  return {
    bytes,
    manifest: {
      formatVersion: 1,
      gitSha: randomBytes(20).toString("hex"),
      checksum: `sha256:${createHash("sha256").update(bytes).digest("hex")}`,
      compression: "none",
      fileCount: 1,
      symbolCount: 1,
      embedding: { fingerprint, dimension },
      sizeBytes: bytes.length,
      note: "a field that the service does not know",
    },
  };
}

interface Signed {
  uploadUrl: string;
  uploadHeaders: Record<string, string>;
  storagePath: string;
}

async function sign(target: ServiceUnderTest, { manifest, bytes }: Artifact): Promise<Signed> {
  const json = { op: "sign", repo: REPO, sizeBytes: bytes.length, manifest };
  const answer = await target.call("/index-snapshot", { as: "apiKey", json });
  answered(answer, { ok: "boolean", uploadUrl: "string", storagePath: "string" });
  return { uploadHeaders: {}, ...answer.body } as unknown as Signed;
}

function commit(target: ServiceUnderTest, { manifest, bytes }: Artifact, storagePath: string): Promise<Answer> {
  const json = { op: "commit", repo: REPO, sizeBytes: bytes.length, storagePath, manifest };
  return target.call("/index-snapshot", { as: "apiKey", json });
}

const UPLOAD_TIMEOUT_MS = 30_000;

/** Status of a PUT to the storage. A connection that the storage cuts is a refusal too. */
async function put({ uploadUrl, uploadHeaders }: Signed, body: Uint8Array<ArrayBuffer>, headers = {}): Promise<number> {
  const signal = AbortSignal.timeout(UPLOAD_TIMEOUT_MS);
  try {
    const response = await fetch(uploadUrl, { method: "PUT", body, headers: { ...uploadHeaders, ...headers }, signal });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    if (signal.aborted) throw error;
    return 0;
  }
}

async function publish(target: ServiceUnderTest): Promise<Artifact & { committed: Answer }> {
  const artifact = await newArtifact(target);
  const signed = await sign(target, artifact);
  equal(await put(signed, artifact.bytes), 200, "the status of the upload");
  const committed = await commit(target, artifact, signed.storagePath);
  answered(committed, { ok: "boolean", storagePath: "string", gitSha: "string" });
  return { ...artifact, committed };
}

const needs = ["apiKey"] as const;

export const snapshotChecks: Check[] = [
  {
    title: "GET /index-snapshot wants exactly one selector",
    needs,
    run: async (target) => {
      const queries = ["", "repo=a/b/c&workspaceId=" + UNKNOWN, "workspaceId=x", "list=1&repo=a/b/c"];
      for (const query of queries) {
        refused(await target.call(`/index-snapshot?${query}`, { as: "apiKey" }), 400, "INVALID_SELECTOR");
      }
    },
  },
  {
    title: "a miss is 404 NO_SNAPSHOT to a pull and exists: false to a probe; the list works",
    needs,
    run: async (target) => {
      refused(await target.call(`/index-snapshot?workspaceId=${UNKNOWN}`, { as: "apiKey" }), 404, "NO_SNAPSHOT");
      const probe = await target.call(`/index-snapshot?workspaceId=${UNKNOWN}&probe=1`, { as: "apiKey" });
      equal([probe.status, probe.body], [200, { ok: true, exists: false }], "the probe's answer");
      const list = await target.call("/index-snapshot?list=1", { as: "apiKey" });
      answered(list, { ok: "boolean", workspaces: "array", sharedIndexEnabled: "boolean" });
    },
  },
  {
    title: "POST /index-snapshot refuses an unknown op and a manifest without a checksum",
    needs,
    run: async (target) => {
      for (const json of [{ op: "other" }, { op: "sign", repo: REPO, manifest: {} }]) {
        refused(await target.call("/index-snapshot", { as: "apiKey", json }), 400, "INVALID_BODY");
      }
    },
  },
  {
    title:
      "sign, upload, commit; then pull gives the manifest and the bytes, and the same commit again changes nothing",
    needs,
    run: async (target) => {
      const artifact = await publish(target);
      const again = await commit(target, artifact, String(artifact.committed.body["storagePath"]));
      equal([again.status, again.body], [200, artifact.committed.body], "the answer to a second commit");
      const probe = await target.call(`/index-snapshot?${SELECTOR}&probe=1`, { as: "apiKey" });
      answered(probe, {
        exists: "boolean",
        gitSha: "string",
        builtAt: "string",
        sizeBytes: "number",
        isCurrent: "boolean",
      });
      equal(probe.body["gitSha"], artifact.manifest["gitSha"], "the probed gitSha");
      const pull = await target.call(`/index-snapshot?${SELECTOR}`, { as: "apiKey" });
      answered(pull, { ok: "boolean", manifest: "object", signedUrl: "string", expiresIn: "number" });
      equal(pull.body["manifest"], artifact.manifest, "the manifest");
      const response = await fetch(String(pull.body["signedUrl"]), { signal: AbortSignal.timeout(UPLOAD_TIMEOUT_MS) });
      equal(new Uint8Array(await response.arrayBuffer()), artifact.bytes, "the downloaded bytes");
    },
  },
  {
    title: "a signed download can be resumed: Range answers 206",
    needs,
    run: async (target) => {
      const { bytes } = await publish(target);
      const { body } = await target.call(`/index-snapshot?${SELECTOR}`, { as: "apiKey" });
      const signal = AbortSignal.timeout(UPLOAD_TIMEOUT_MS);
      const response = await fetch(String(body["signedUrl"]), { headers: { Range: "bytes=100-199" }, signal });
      equal(response.status, 206, "the status");
      equal(new Uint8Array(await response.arrayBuffer()), bytes.slice(100, 200), "the bytes of the range");
    },
  },
  {
    title: "an upload URL takes the signed bytes only: no other length, no unsigned x-amz-* header, no other method",
    needs,
    run: async (target) => {
      const artifact = await newArtifact(target);
      const signed = await sign(target, artifact);
      const statuses = {
        "a shorter body": await put(signed, artifact.bytes.slice(1)),
        "x-amz-meta-other": await put(signed, artifact.bytes, { "x-amz-meta-other": "1" }),
        "x-amz-acl": await put(signed, artifact.bytes, { "x-amz-acl": "public-read" }),
      };
      for (const [name, status] of Object.entries(statuses)) {
        holds(status === 0 || (status >= 400 && status < 500), `${name} is answered ${status}, not refused`);
      }
      const init = { method: "POST", signal: AbortSignal.timeout(UPLOAD_TIMEOUT_MS) };
      const multipart = await fetch(`${signed.uploadUrl}&uploads`, init).catch(() => undefined);
      holds((multipart?.status ?? 400) >= 400, `starting a multipart upload is answered ${multipart?.status}`);
    },
  },
  {
    title: "bytes that do not match the manifest never become the current snapshot",
    needs,
    run: async (target) => {
      const before = await target.call(`/index-snapshot?${SELECTOR}&probe=1`, { as: "apiKey" });
      const artifact = await newArtifact(target);
      const signed = await sign(target, artifact);
      const other = artifact.bytes.slice();
      other[0] = (other[0] ?? 0) ^ 1;
      const uploaded = await put(signed, other);
      refused(await commit(target, artifact, signed.storagePath), 400, "INVALID_BODY");
      const after = await target.call(`/index-snapshot?${SELECTOR}&probe=1`, { as: "apiKey" });
      equal(after.body, before.body, "the current snapshot");
      return uploaded === 200 ? "the storage takes them, the commit does not" : "the storage itself refuses them";
    },
  },
];
