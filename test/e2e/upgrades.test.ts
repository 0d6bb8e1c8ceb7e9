/** Data folders of earlier releases and formats (see test/upgrades/make.ts): the service starts on them and keeps what they hold. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { afterEach, expect, it } from "vitest";
import { startService } from "../../src/tooling/local/stack/service.ts";
import type { Expected } from "../upgrades/make.ts";
import { keepCertificates } from "./support/certificates.ts";

const FOLDER = fileURLToPath(new URL("../upgrades/data", import.meta.url));

afterEach(keepCertificates());

it.each(readdirSync(FOLDER).map((name) => name.replace(".tar.br", "")))(
  "starts on the data folder of %s, keeps its data and searches it without another pull",
  async (commit) => {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), "code-context-upgrade-"));
    try {
      const tar = brotliDecompressSync(readFileSync(path.join(FOLDER, `${commit}.tar.br`)));
      execFileSync("tar", ["-x", "--no-same-owner", "-C", dataDir], { input: tar });
      const expected = JSON.parse(readFileSync(path.join(dataDir, "expected.json"), "utf8")) as Expected;
      const running = await startService({ dataDir, port: 0, sitePort: 0 });
      const { apiUrl, apiKey, workerToken, workspaceId } = running.service;
      const call = (route: string, key: string, body?: unknown) =>
        fetch(apiUrl + route, {
          method: body === undefined ? "GET" : "POST",
          headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
      try {
        const { gitSha, runId, fileCount, symbolCount, usedCredits } = expected;
        const usage = await (await call("/usage", apiKey)).json();
        expect(usage).toMatchObject({ credits: { used: usedCredits }, calls: { embed: 1, index: 1 } });
        const run = await (await call(`/index/${runId}`, workerToken)).json();
        expect(run).toMatchObject({ state: "succeeded", result: { runId, fileCount, symbolCount } });

        // The git server of the data folder is gone: everything comes from what is stored.
        const search = async () => {
          const response = await call("/search", apiKey, { query: "how are idle sessions closed" });
          const answer = (await response.json()) as { code?: string; results?: { path: string }[] };
          if (response.status === 503) {
            expect(answer.code).toBe("UNAVAILABLE");
            expect(response.headers.get("Retry-After")).toMatch(/^\d+$/);
          } else expect(response.status).toBe(200);
          return { path: answer.results?.[0]?.path, answer };
        };
        const first = await search();
        if (first.answer.code === undefined) expect(first.path).toBe("src/session.ts");
        await expect.poll(async () => (await search()).path).toBe("src/session.ts");
        expect((await search()).answer).toMatchObject({ indexes: [{ workspaceId, gitSha }] });
        const symbol = await call(`/symbols?workspaceId=${workspaceId}&name=rotate_token`, apiKey);
        expect(await symbol.json()).toMatchObject({ symbols: [{ path: "src/tokens.py", startLine: 1 }] });

        expect(await (await fetch(`${apiUrl}/healthz`)).json()).toMatchObject({
          ok: true,
          checks: { gate: { ok: true } },
        });
      } finally {
        await running.stop();
      }
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
  240_000,
);
