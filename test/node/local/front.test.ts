import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { pause } from "../../../src/lib/pause.ts";
import { type Front, startFront } from "../../../src/tooling/local/stack/front.ts";
import { freePort } from "../../../src/tooling/local/stack/ports.ts";

const S3 = "/cdn-cgi/local/r2/s3/bucket/key";
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function target(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server: Server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function front(port: number, s3?: number): Promise<Front & { url: string }> {
  const own = await freePort();
  const started = await startFront({ port: own, variable: "PORT", target: port, ...(s3 !== undefined && { s3 }) });
  cleanups.push(() => started.close());
  return { ...started, url: `http://127.0.0.1:${own}` };
}

describe("a stopping service", () => {
  it("reports 503 until its requests are answered", async () => {
    const held: ServerResponse[] = [];
    const health = { ok: true, status: "ok", version: "1.2.3", checks: {} };
    const port = await target((request, response) => {
      if (request.url !== "/slow") return response.setHeader("X-RateLimit-Limit", "600").end(JSON.stringify(health));
      held.push(response);
    });
    const started = await front(port);
    const { url } = started;
    expect((await fetch(`${url}/healthz`)).status).toBe(200);

    const slow = fetch(`${url}/slow`);
    await expect.poll(() => held.length).toBe(1);
    let drained = false;
    const draining = started.drain().then(() => (drained = true));
    for (const path of ["/healthz", "/healthz?verbose=1", "/api/v1/healthz"]) {
      const response = await fetch(url + path);
      expect(response.status).toBe(503);
      expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(0);
      expect(response.headers.get("X-RateLimit-Limit")).toBe("600");
      expect(await response.json()).toEqual({ ...health, ok: false, status: "stopping" });
    }
    expect((await fetch(`${url}/healthzebra`)).status).toBe(200);
    expect(drained).toBe(false);
    held[0]?.end("done");
    expect(await (await slow).text()).toBe("done");
    await draining;
  });

  it("reports 503 when the Worker behind it is gone", async () => {
    const { url, ...started } = await front(await freePort());
    await started.drain();
    const response = await fetch(`${url}/healthz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ ok: false, status: "stopping" });
  });
});

describe("the object store's endpoint", () => {
  const put = async (query: string, headers: Record<string, string>) => {
    const seen: string[] = [];
    const store = await target((request, response) => {
      seen.push(request.url ?? "");
      request.resume().on("end", () => response.end());
    });
    const { url } = await front(await freePort(), store);
    const response = await fetch(`${url}${S3}${query}`, { method: "PUT", body: "bytes", headers });
    return { status: response.status, reached: seen.length };
  };
  const signed = (names: string) => `?X-Amz-SignedHeaders=${encodeURIComponent(names)}&X-Amz-Signature=00`;
  const accepted = { status: 200, reached: 1 };
  const refused = { status: 403, reached: 0 };

  it("takes headers that the signature covers", async () => {
    expect(await put(signed("host"), {})).toEqual(accepted);
    expect(await put(signed("host;x-amz-checksum-sha256"), { "X-Amz-Checksum-SHA256": "AA==" })).toEqual(accepted);
    const authorization = "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host;x-amz-date, Signature=00";
    expect(await put("", { Authorization: authorization, "x-amz-date": "20260101T000000Z" })).toEqual(accepted);
  });

  it("refuses those that it does not cover", async () => {
    const copy = { "x-amz-copy-source": "/bucket/of-another-tenant" };
    expect(await put(signed("host"), copy)).toEqual(refused);
    expect(await put(signed("host;x-amz-checksum-sha256"), { ...copy, "x-amz-checksum-sha256": "AA==" })).toEqual(
      refused,
    );
    expect(await put("", copy)).toEqual(refused);
    const authorization = "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature=00";
    expect(await put("", { Authorization: authorization, ...copy })).toEqual(refused);
  });
});

describe("what else the object store's port serves", () => {
  const serving = async () => {
    const seen: Record<string, IncomingMessage[]> = { api: [], store: [] };
    const serve = (name: string) =>
      target((request, response) => {
        seen[name]?.push(request);
        response.end();
      });
    return { seen, ...(await front(await serve("api"), await serve("store"))) };
  };

  it("is not reached by a path that leads out of the endpoint", async () => {
    const { url, seen } = await serving();
    const paths = ["../public/bucket/key", "%2e%2e/%2E%2E/.%2e/public/bucket/key", "..\\public\\bucket\\key"].map(
      (rest) => `/cdn-cgi/local/r2/s3/${rest}`,
    );
    for (const path of paths) {
      // `fetch` would resolve the path itself.
      const [response] = (await once(get({ port: new URL(url).port, path }), "response")) as [IncomingMessage];
      response.resume();
    }
    expect(seen["api"]?.map((request) => request.url)).toEqual(paths);
    expect(seen["store"]).toEqual([]);
  });

  it("is not told another address by a header", async () => {
    const { url, seen } = await serving();
    await fetch(url + S3, {
      headers: { "MF-Original-URL": "http://localhost/cdn-cgi/local/r2/public/bucket/key", A: "b" },
    });
    expect(seen["store"]?.map(({ headers }) => headers)).toMatchObject([{ a: "b" }]);
    expect(Object.keys(seen["store"]?.[0]?.headers ?? {}).filter((name) => name.startsWith("mf-"))).toEqual([]);
  });
});

describe("a client that disconnects", () => {
  it("does not end the request of another, which has got its connection to the service meanwhile", async () => {
    const seen: string[] = [];
    const held: ServerResponse[] = [];
    const port = await target((request, response) => {
      seen.push(`${request.url} ${request.socket.remotePort}`);
      if (request.url === "/large") response.end(Buffer.alloc(64 * 1024 * 1024));
      else if (request.url === "/small") response.end("small");
      else held.push(response);
    });
    const { url } = await front(port);
    // The second answer waits behind the first, which the client does not read, so its connection to the service is free.
    const client = connect(Number(new URL(url).port), "127.0.0.1").pause();
    client.on("error", () => {});
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    client.write(request("/large") + request("/small"));
    await expect.poll(() => seen.length).toBe(2);
    await pause(50);
    const other = fetch(`${url}/held`);
    await expect.poll(() => held.length).toBe(1);
    expect(seen[2]?.split(" ")[1]).toBe(seen[1]?.split(" ")[1]);
    client.destroy();
    await pause(50);
    held[0]?.end("done");
    expect((await other).status).toBe(200);
  });
});
