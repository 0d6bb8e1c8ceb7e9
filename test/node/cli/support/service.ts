import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text, buffer } from "node:stream/consumers";
import type { SnapshotManifest } from "../../../../src/contract/index.ts";

export interface Faults {
  /** Answers to `GET` of an artifact break off after so many bytes, this many times. */
  breakDownloadsAfter?: { bytes: number; times: number };
  /** Uploads are cut off after so many bytes, this many times. */
  breakUploadsAfter?: { bytes: number; times: number };
  /** The next so many signed URLs are refused. */
  expiredUrls?: number;
  /** Called when an expired URL is refused. */
  onExpired?: () => void;
  /** Bytes of the artifact are changed on their way out. */
  tamper?: boolean;
  /** `POST /embed` fails with this code after so many calls. */
  embedFails?: { after: number; status: number; code: string };
  embedDelayMs?: number;
}

interface Stored {
  manifest: SnapshotManifest;
  storagePath: string;
  builtAt: string;
}

/**
 * A stand-in for the service and its storage whose failures can be switched on: broken transfers, expired URLs, a revoked
 * key. Everything else is tested against the real thing in test/e2e.
 */
export class FakeService {
  readonly server: Server;
  url = "";
  key = "cc_live_test";
  fingerprint = "fp-1";
  dimension = 8;
  faults: Faults = {};
  /** Texts that were embedded, in order; what they cost is what counts. */
  readonly embedded: string[] = [];
  readonly batches: number[] = [];
  readonly requests: string[] = [];
  readonly snapshots = new Map<string, Stored>();
  readonly objects = new Map<string, Buffer>();
  bytesServed = 0;
  /** Bodies of `POST /index`. */
  readonly indexRequests: { source: Record<string, unknown> }[] = [];

  constructor() {
    this.server = createServer((request, response) => {
      this.handle(request, response).catch(() => response.destroy());
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  /** Holds what another service holds, and has embedded what that has. */
  takeOver({ snapshots, objects, embedded }: FakeService): void {
    for (const [repo, stored] of snapshots) this.snapshots.set(repo, stored);
    for (const [path, bytes] of objects) this.objects.set(path, bytes);
    this.embedded.push(...embedded);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    this.requests.push(`${request.method} ${url.pathname}`);
    if (url.pathname.startsWith("/storage/")) return this.storage(request, response, url);
    if (url.pathname === "/healthz") return json(response, 200, { ok: true, status: "ok", version: "0", checks: {} });
    if (url.pathname === "/index" && request.method === "POST") {
      this.indexRequests.push(JSON.parse(await text(request)) as { source: Record<string, unknown> });
      return json(response, 202, { ok: true, accepted: true, runId: randomUUID() });
    }
    if (request.headers.authorization !== `Bearer ${this.key}`) return fail(response, 401, "INVALID_API_KEY");
    if (url.pathname === "/embed") return this.embed(request, response);
    if (url.pathname === "/index-snapshot") return this.snapshot(request, response, url);
    return fail(response, 404, "NOT_FOUND");
  }

  private async embed(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { fingerprint, dimension } = this;
    if (request.method === "GET") return json(response, 200, { ok: true, fingerprint, dimension });
    const { input } = JSON.parse(await text(request)) as { input: string[] };
    const { embedFails, embedDelayMs } = this.faults;
    if (embedFails && this.batches.length >= embedFails.after)
      return fail(response, embedFails.status, embedFails.code);
    if (embedDelayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, embedDelayMs));
    this.batches.push(input.length);
    this.embedded.push(...input);
    const embeddings = input.map((item, index) => ({ index, vector: vectorOf(item, dimension) }));
    return json(response, 200, { ok: true, fingerprint, dimension, embeddings, usage: { credits: 1 } });
  }

  private async snapshot(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const repo = url.searchParams.get("repo") ?? "";
    if (request.method === "GET") {
      const stored = this.snapshots.get(repo);
      if (url.searchParams.has("list")) {
        const workspaces = [...this.snapshots].map(([repo, { manifest, builtAt }]) => ({
          workspaceId: randomUUID(),
          repo,
          defaultBranch: null,
          inCloud: true,
          gitSha: manifest.gitSha,
          builtAt,
          sizeBytes: manifest.sizeBytes ?? null,
          fileCount: manifest.fileCount,
          symbolCount: manifest.symbolCount,
        }));
        return json(response, 200, { ok: true, workspaces, sharedIndexEnabled: true });
      }
      if (url.searchParams.has("probe")) {
        if (!stored) return json(response, 200, { ok: true, exists: false });
        const { gitSha, fileCount, symbolCount, sizeBytes = 0, embedding } = stored.manifest;
        return json(response, 200, {
          ok: true,
          exists: true,
          gitSha,
          builtAt: stored.builtAt,
          sizeBytes,
          fileCount,
          symbolCount,
          embeddingModel: embedding.fingerprint,
          isCurrent: true,
        });
      }
      if (!stored) return fail(response, 404, "NO_SNAPSHOT");
      return json(response, 200, {
        ok: true,
        manifest: stored.manifest,
        signedUrl: `${this.url}/storage/${stored.storagePath}`,
        expiresIn: 60,
      });
    }
    const body = JSON.parse(await text(request)) as {
      op: string;
      manifest: SnapshotManifest;
      repo: string;
      storagePath?: string;
      expectedGitSha?: string | null;
    };
    if (body.op === "sign") {
      const storagePath = randomUUID();
      return json(response, 200, {
        ok: true,
        uploadUrl: `${this.url}/storage/${storagePath}`,
        storagePath,
        uploadHeaders: { "X-Test": "1" },
        expiresIn: 60,
      });
    }
    const { manifest, storagePath = "" } = body;
    const current = this.snapshots.get(body.repo)?.manifest.gitSha ?? null;
    if (body.expectedGitSha !== undefined && body.expectedGitSha !== current)
      return fail(response, 409, "SNAPSHOT_CONFLICT");
    const object = this.objects.get(storagePath);
    if (!object || sha256(object) !== manifest.checksum) return fail(response, 400, "INVALID_BODY");
    this.snapshots.set(body.repo, { manifest, storagePath, builtAt: new Date().toISOString() });
    return json(response, 200, { ok: true, storagePath, gitSha: manifest.gitSha });
  }

  private async storage(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { faults } = this;
    if ((faults.expiredUrls ?? 0) > 0) {
      faults.expiredUrls = (faults.expiredUrls ?? 0) - 1;
      faults.onExpired?.();
      request.resume();
      return fail(response, 403, "ExpiredRequest");
    }
    const path = url.pathname.slice("/storage/".length);
    if (request.method === "PUT") {
      const cut = faults.breakUploadsAfter;
      if (cut && cut.times > 0) {
        cut.times--;
        let seen = 0;
        request.on("data", (part: Buffer) => {
          seen += part.length;
          if (seen >= cut.bytes) request.socket.destroy();
        });
        return;
      }
      const body = await buffer(request);
      if (request.headers["content-length"] !== String(body.length)) return fail(response, 411, "MissingContentLength");
      this.objects.set(path, body);
      response.writeHead(200).end();
      return;
    }
    const object = this.objects.get(path);
    if (!object) return fail(response, 404, "NoSuchKey");
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    let part = Buffer.from(object.subarray(from));
    if (faults.tamper && part.length > 100) part[part.length >> 1] = (part[part.length >> 1] ?? 0) ^ 1;
    const headers: Record<string, string> = { "Content-Length": String(part.length) };
    if (from > 0) headers["Content-Range"] = `bytes ${from}-${object.length - 1}/${object.length}`;
    response.writeHead(from > 0 ? 206 : 200, headers);
    const cut = faults.breakDownloadsAfter;
    if (cut && cut.times > 0 && part.length > cut.bytes) {
      cut.times--;
      part = part.subarray(0, cut.bytes);
      this.bytesServed += part.length;
      response.write(part, () => setTimeout(() => response.destroy(), 20));
      return;
    }
    this.bytesServed += part.length;
    response.end(part);
  }
}

/** Depends on nothing but the text. */
function vectorOf(text: string, dimension: number): number[] {
  const hash = createHash("sha256").update(text).digest();
  return Array.from({ length: dimension }, (_, i) => ((hash[i % 32] ?? 0) - 128) / 128);
}

function sha256(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { "Content-Type": "application/json", "X-Request-Id": "req-test" })
    .end(JSON.stringify(body));
}

function fail(response: ServerResponse, status: number, code: string): void {
  json(response, status, { ok: false, code, error: code.toLowerCase() });
}
