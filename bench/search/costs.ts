/** What a query asks of object storage and the database: the service's own code in this process, over counting adapters. */
import { AwsClient } from "aws4fetch";
import { SearchRequest } from "../../src/contract/search.ts";
import { openDb } from "../../src/service/db/client.ts";
import { localSecrets } from "../../src/tooling/local/stack/local-secrets.ts";
import type { RunningService } from "../../src/tooling/local/stack/service.ts";
import { SearchCache } from "../../src/service/hosted-index/cache.ts";
import { search } from "../../test/support/ask-hosted.ts";
import { regexModule } from "../../src/cli/exact/regex-module.ts";
import { SEARCH_PREFIX, type SearchBucket } from "../../src/service/hosted-index/store.ts";
import { mean } from "../retrieval/metrics.ts";

interface Counts {
  gets: number;
  bytes: number;
  statements: number;
}

/** Prints round trips and bytes of first and warm queries. */
export async function countCosts(
  running: RunningService,
  workspaceId: string,
  name: string,
  { shorts, issues }: { shorts: readonly string[]; issues: readonly string[] },
): Promise<void> {
  const { service } = running;
  const counts: Counts = { gets: 0, bytes: 0, statements: 0 };
  const bucket = s3Bucket(running, counts);
  const original = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!url.startsWith(service.apiUrl)) counts.statements++;
    return original(input, init);
  };
  try {
    const cache = new SearchCache();
    const ask = async (query: string): Promise<Counts> => {
      const before = { ...counts };
      const request = SearchRequest.parse({ query, workspaceId });
      await search(
        { db: openDb(service.databaseUrl), bucket, cache, regexModule, repair: async () => {} },
        service.tenantId,
        request,
      );
      return {
        gets: counts.gets - before.gets,
        bytes: counts.bytes - before.bytes,
        statements: counts.statements - before.statements,
      };
    };
    print(`${name}, first query`, [await ask(shorts[0] ?? "")]);
    for (const [label, queries] of [
      ["short queries", shorts],
      ["issue texts", issues],
    ] as const) {
      const first: Counts[] = [];
      for (const query of queries) first.push(await ask(query));
      const again: Counts[] = [];
      for (const query of queries) again.push(await ask(query));
      print(`${name}, ${label}, never asked before`, first);
      print(`${name}, ${label}, again`, again);
    }
  } finally {
    globalThis.fetch = original;
  }
}

function print(label: string, counts: readonly Counts[]): void {
  const of = (key: keyof Counts) => mean(counts.map((own) => own[key]));
  console.log(
    `${label}  object reads ${of("gets").toFixed(1)}, ${(of("bytes") / 1024).toFixed(0)} KB, statements ${of("statements").toFixed(1)}`,
  );
}

function clientOf({ stack }: RunningService): { client: AwsClient; base: string } {
  const { r2AccessKeyId, r2SecretAccessKey } = localSecrets(stack.dataDir);
  const client = new AwsClient({
    accessKeyId: r2AccessKeyId,
    secretAccessKey: r2SecretAccessKey,
    service: "s3",
    region: "auto",
  });
  return { client, base: `${stack.apiUrl}/cdn-cgi/local/r2/s3/code-context-snapshots` };
}

/** The local stack's bucket by its S3 endpoint, for reading. */
function s3Bucket(running: RunningService, counts: Counts): SearchBucket {
  const { client, base } = clientOf(running);
  const readOnly = () => Promise.reject(new Error("this bucket is for reading"));
  return {
    get: async (key, options) => {
      const range = options?.range;
      const headers = range ? { Range: `bytes=${range.offset}-${range.offset + range.length - 1}` } : {};
      const response = await client.fetch(`${base}/${key}`, { headers });
      if (response.status === 404) return null;
      if (!response.ok) throw new Error(`${key}: ${response.status}`);
      const bytes = await response.arrayBuffer();
      counts.gets++;
      counts.bytes += bytes.byteLength;
      const total = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
      return { size: total === undefined ? bytes.byteLength : Number(total), arrayBuffer: async () => bytes };
    },
    head: async (key) => {
      const { ok, headers } = await client.fetch(`${base}/${key}`, { method: "HEAD" });
      return ok ? { size: Number(headers.get("Content-Length")) } : null;
    },
    put: readOnly,
    delete: readOnly,
    list: readOnly,
  };
}

/** Bytes of each object of the search index, of all tenants or one. */
export async function listBytes(running: RunningService, tenantId = ""): Promise<Map<string, number>> {
  const { client, base } = clientOf(running);
  const objects = new Map<string, number>();
  let token: string | undefined;
  do {
    const query = new URLSearchParams({
      "list-type": "2",
      prefix: SEARCH_PREFIX + tenantId,
      ...(token && { "continuation-token": token }),
    });
    const text = await (await client.fetch(`${base}?${query.toString()}`)).text();
    for (const [, key = "", size] of text.matchAll(/<Key>([^<]*)<\/Key>.*?<Size>(\d+)<\/Size>/gs))
      objects.set(key, Number(size));
    token = /<NextContinuationToken>([^<]*)</.exec(text)?.[1];
  } while (token !== undefined);
  return objects;
}
