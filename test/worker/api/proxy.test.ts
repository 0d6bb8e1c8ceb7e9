import { describe, expect, it } from "vitest";
import { landingPage } from "../../../src/workers/site/landing.ts";
import { proxy } from "../../../src/workers/site/proxy.ts";

const URL_OF_EMBED = "https://site.test/api/v1/embed?x=1";

describe("what goes on to the api", () => {
  async function forwarded(headers: Record<string, string>, init: RequestInit = {}): Promise<Request> {
    const { promise, resolve } = Promise.withResolvers<Request>();
    await proxy(new Request(URL_OF_EMBED, { ...init, headers }), async (request) => {
      resolve(request);
      return new Response();
    });
    return promise;
  }

  it("is the request as it was: method, address, end-to-end headers, body", async () => {
    const request = await forwarded(
      { Authorization: "Bearer k", "X-Request-Id": "abcdefgh" },
      { method: "POST", body: "text" },
    );
    expect([request.method, request.url, await request.text()]).toEqual(["POST", URL_OF_EMBED, "text"]);
    expect(request.headers.get("Authorization")).toBe("Bearer k");
    expect(request.headers.get("X-Request-Id")).toBe("abcdefgh");
  });

  it("loses the headers of the connection, those it names included", async () => {
    const { headers } = await forwarded({
      Connection: "keep-alive, X-Hop , close",
      "Keep-Alive": "timeout=5",
      "Proxy-Authorization": "Basic abc",
      "Proxy-Connection": "keep-alive",
      TE: "trailers",
      Trailer: "X-T",
      Upgrade: "h2c",
      "X-Hop": "1",
      "X-End": "2",
    });
    expect([...headers.keys()].toSorted()).toEqual(["x-end"]);
  });

  it("tells the client's address by the platform's word only", async () => {
    const { headers } = await forwarded({
      "CF-Connecting-IP": "9.9.9.9",
      "X-Forwarded-For": "1.1.1.1",
      Forwarded: "for=1.1.1.1",
      "X-Real-IP": "1.1.1.1",
      "True-Client-IP": "1.1.1.1",
      Connection: "CF-Connecting-IP",
    });
    expect(Object.fromEntries(headers)).toEqual({ "cf-connecting-ip": "9.9.9.9" });
  });

  it("streams", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const request = await forwarded({}, { method: "POST", body: readable });
    const reader = (request.body as ReadableStream<Uint8Array>).getReader();
    for (const chunk of ["one", "two"]) {
      void writer.write(new TextEncoder().encode(chunk));
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(chunk);
    }
  });

  it("is aborted when the client leaves", async () => {
    const client = new AbortController();
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    const answer = proxy(new Request(URL_OF_EMBED, { signal: client.signal }), async (request) => {
      const aborted = new Promise<never>((_, reject) =>
        request.signal.addEventListener("abort", () => reject(new Error("aborted"))),
      );
      resolve();
      return aborted;
    });
    await reached;
    client.abort();
    expect((await answer).status).toBe(502);
  });
});

describe("what comes back", () => {
  it.each([200, 204, 304, 401, 404, 429, 500, 503])(
    "keeps status %i, body and headers, and may be read by any page",
    async (status) => {
      const body = [204, 304].includes(status) ? null : `{"status":${status}}`;
      const answer = await proxy(
        new Request(URL_OF_EMBED, { headers: { Origin: "https://page.test" } }),
        async () =>
          new Response(body, {
            status,
            headers: { "X-RateLimit-Limit": "600", Connection: "X-Hop", "X-Hop": "1", Location: "/x" },
          }),
      );
      expect([answer.status, await answer.text()]).toEqual([status, body ?? ""]);
      expect(answer.headers.get("X-RateLimit-Limit")).toBe("600");
      expect(answer.headers.get("Location")).toBe("/x");
      expect(answer.headers.has("X-Hop") || answer.headers.has("Connection")).toBe(false);
      expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
      expect(answer.headers.get("Access-Control-Expose-Headers")).toMatch(
        /X-RateLimit-Remaining.*Retry-After.*X-Request-Id/,
      );
    },
  );

  it("streams", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const answer = await proxy(new Request(URL_OF_EMBED), async () => new Response(readable));
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    for (const chunk of ["one", "two"]) {
      void writer.write(new TextEncoder().encode(chunk));
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(chunk);
    }
  });

  it("is 502 in the service's own envelope when the api is down", async () => {
    const answer = await proxy(new Request(URL_OF_EMBED), () =>
      Promise.reject(new Error("at 10.0.0.7: connection refused")),
    );
    expect(answer.status).toBe(502);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({ ok: false, code: "UPSTREAM_UNREACHABLE" });
    expect(text).not.toContain("10.0.0.7");
    expect(answer.headers.get("X-Request-Id")).toMatch(/.{8}/);
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
  });
});

describe("OPTIONS", () => {
  const never = () => Promise.reject(new Error("must not reach the api"));

  it("is answered here, for the method and headers asked for", async () => {
    const headers = {
      Origin: "https://page.test",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization,content-type, x-custom, bad header",
    };
    const answer = await proxy(new Request(URL_OF_EMBED, { method: "OPTIONS", headers }), never);
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, HEAD, POST, DELETE, OPTIONS",
      "access-control-allow-headers": "authorization, content-type, x-custom",
      "access-control-max-age": "86400",
      vary: "Access-Control-Request-Headers",
    });
  });

  it("is answered without a preflight's headers too", async () => {
    const answer = await proxy(new Request(URL_OF_EMBED, { method: "OPTIONS" }), never);
    expect([answer.status, answer.headers.get("Allow")]).toEqual([204, "GET, HEAD, POST, DELETE, OPTIONS"]);
  });
});

it("has a landing page, and nothing else", async () => {
  const page = (path: string, method = "GET") => landingPage(new Request(`https://site.test${path}`, { method }), path);
  expect(await page("/").text()).toMatch(/<title>Code Context<\/title>[^]*\/api\/v1\/healthz/);
  expect([page("/").status, page("/", "HEAD").status, page("/", "POST").status, page("/x").status]).toEqual([
    200, 200, 405, 404,
  ]);
});

it("answers in the service's envelope, with an id, where it answers itself", async () => {
  const own = [
    landingPage(new Request("https://site.test/x"), "/x"),
    landingPage(new Request("https://site.test/", { method: "POST" }), "/"),
    await proxy(new Request(URL_OF_EMBED), () => Promise.reject(new Error("away"))),
  ];
  for (const answer of own) {
    expect(answer.headers.get("X-Request-Id")).toMatch(/^[\w-]{8,64}$/);
    expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(await answer.json()).toMatchObject({ ok: false, code: expect.any(String), error: expect.any(String) });
  }
  const headers = { Accept: "text/html", "X-Request-Id": "of-the-client" };
  const page = landingPage(new Request("https://site.test/x", { headers }), "/x");
  expect([page.status, page.headers.get("X-Request-Id")]).toEqual([404, "of-the-client"]);
  const html = await page.text();
  expect(html).toMatch(/^<!DOCTYPE html>[^]*<title>404[^]*Page not found/);
  const styles = (text: string) => /:root \{[^]*?\.links \{/.exec(text)?.[0];
  expect(styles(html)).toBe(styles(await landingPage(new Request("https://site.test/"), "/").text()));
  expect(styles(html)).toContain("color-scheme");
});
