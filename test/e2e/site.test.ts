import { request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { roomInWindow } from "../support/rate-window.ts";
import { api, newTenant, service } from "./support/service.ts";

describe("the site's reverse proxy", () => {
  it("passes answers on unchanged, and lets pages read them", async () => {
    const { apiKey } = await newTenant();
    await roomInWindow(60, 5_000);
    const body = { input: ["function add(a, b) { return a + b }"] };
    const direct = await api("/embed", { key: apiKey, body });
    const proxied = await api("/embed", {
      key: apiKey,
      body,
      site: true,
      headers: { "X-Request-Id": "chosen-by-the-client" },
    });
    expect([proxied.status, await proxied.json()]).toEqual([200, await direct.json()]);
    expect(proxied.headers.get("X-Request-Id")).toBe("chosen-by-the-client");
    expect(Number(proxied.headers.get("X-RateLimit-Remaining"))).toBe(
      Number(direct.headers.get("X-RateLimit-Remaining")) - 1,
    );
    expect(proxied.headers.get("Access-Control-Allow-Origin")).toBe("*");
    for (const [request, status] of [
      [{ body, key: "cc_live_x" }, 401],
      [{ body: "{", key: apiKey }, 400],
    ] as const) {
      const answer = await api("/embed", { ...request, site: true });
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ ok: false });
    }
  });

  it("answers a preflight itself", async () => {
    const answer = await api("/embed", {
      site: true,
      method: "OPTIONS",
      headers: {
        Origin: "https://page.test",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
      },
    });
    expect([answer.status, answer.headers.get("Access-Control-Allow-Headers")]).toEqual([204, "authorization"]);
    expect(answer.headers.has("X-Request-Id")).toBe(true);
  });

  it("forwards the client's address, whatever headers the client sends", async () => {
    const { siteUrl, apiUrl } = service();
    // An address that no other test comes from.
    const from = { localAddress: "127.0.0.77" };
    await roomInWindow(60, 5_000);
    const first = await remaining(`${siteUrl}/api/v1/healthz`, from);
    const claims = {
      "X-Forwarded-For": "8.8.8.8",
      "CF-Connecting-IP": "8.8.8.8",
      "X-Real-IP": "8.8.8.8",
      Forwarded: "for=8.8.8.8",
    };
    expect(first - (await remaining(`${siteUrl}/api/v1/healthz`, { ...from, headers: claims }))).toBe(1);
    expect(first - (await remaining(`${apiUrl}/healthz`, { ...from, headers: claims }))).toBe(2);
    expect(await remaining(`${siteUrl}/api/v1/healthz`, { localAddress: "127.0.0.78", headers: claims })).toBe(599);
  });

  it("has a landing page", async () => {
    const { siteUrl } = service();
    const page = await fetch(siteUrl);
    expect([page.status, page.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect((await fetch(`${siteUrl}/nothing`)).status).toBe(404);
  });

  it("leads from an address with a slash at its end to the page", async () => {
    const { siteUrl } = service();
    for (const [given, page] of [
      ["/app/", "/app"],
      ["/docs/", "/docs"],
      ["/docs/cli//?from=mail", "/docs/cli?from=mail"],
      ["/app/acme/search/?q=a%20b", "/app/acme/search?q=a%20b"],
    ] as const) {
      const answer = await fetch(siteUrl + given, { redirect: "manual" });
      expect([given, answer.status, answer.headers.get("Location")]).toEqual([given, 301, page]);
    }
  });

  it("has the documentation, as pages and as Markdown", async () => {
    const { siteUrl } = service();
    const page = await fetch(`${siteUrl}/docs/cli`);
    expect([page.status, page.headers.get("Content-Type")]).toEqual([200, "text/html; charset=UTF-8"]);
    expect(page.headers.has("X-Request-Id")).toBe(true);
    expect(page.headers.get("Content-Security-Policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'/,
    );
    const cli = await page.text();
    expect(cli).toContain('<h2 id="for-programs"');
    const tag = page.headers.get("ETag") ?? "";
    expect((await fetch(`${siteUrl}/docs/cli`, { headers: { "If-None-Match": tag } })).status).toBe(304);

    const index = await (await fetch(`${siteUrl}/llms.txt`)).text();
    const links = [...index.matchAll(/\]\((http[^)]+\.md)\)/g)].map(([, url = ""]) => url);
    expect(links.length).toBeGreaterThan(10);
    const twins = await Promise.all(links.map(async (url) => (await fetch(url)).text()));
    for (const text of twins) expect(text).toMatch(/^# /);
    const example = /href="(\/docs\/files\/[^"]+)"/.exec(cli)?.[1] ?? "";
    expect((await fetch(siteUrl + example)).headers.get("Content-Type")).toMatch("text/plain");

    const found = await (await fetch(`${siteUrl}/docs?q=exit+codes`)).text();
    expect(found).toContain('href="/docs/cli#for-programs"');
    const hostile = await (await fetch(`${siteUrl}/docs?q=${encodeURIComponent('<script>"x"')}`)).text();
    expect(hostile).not.toContain("<script>");

    for (const path of [
      "/docs/nothing",
      "/docs/constructor",
      "/docs/files/constructor",
      "/docs/../package.json",
      "/docs/cli/more",
    ])
      expect([path, (await fetch(siteUrl + path)).status]).toEqual([path, 404]);
    const missing = await fetch(`${siteUrl}/docs/nothing`);
    expect([missing.headers.has("X-Request-Id"), await missing.json()]).toMatchObject([true, { code: "NOT_FOUND" }]);
    const shown = await fetch(`${siteUrl}/docs/nothing`, { headers: { Accept: "text/html" } });
    expect([shown.status, await shown.text()]).toEqual([404, expect.stringContaining("<html")]);
    const posted = await fetch(`${siteUrl}/docs`, { method: "POST" });
    expect([posted.status, await posted.json()]).toMatchObject([405, { code: "METHOD_NOT_ALLOWED" }]);
  });
});

/** `X-RateLimit-Remaining` of a GET from this address. */
function remaining(url: string, options: { localAddress: string; headers?: Record<string, string> }): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, options, (response) => {
      response.resume();
      resolve(Number(response.headers["x-ratelimit-remaining"]));
    });
    request.on("error", reject);
    request.end();
  });
}
