/**
 * `npm run bench -- sweeps [--vectors 1000000] [--chunks 350000]`
 * The daily clean-up and the erasure of a team on a PostgreSQL server, with tenants that the planner's statistics do not know. Bars:
 * a sweep of 10⁶ vectors takes at most 60 s with no request over 1 s, and a tenant of 350,000 chunks is erased in pages (no request over
 * 5 s) while another one's index runs go on and succeed. Exits with 1 if a bar is missed. About 1 GB of disk, a few minutes.
 */
import { parseArgs } from "node:util";
import { neonConfig } from "@neondatabase/serverless";
import { Client } from "pg";
import { openDb } from "../src/service/db/client.ts";
import { sweepIndex } from "../src/service/indexing/sweep.ts";
import { connectServer } from "../src/tooling/local/database/database.ts";
import { eraseTenant } from "../src/service/tenancy/erase.ts";
import { startGitBackend } from "../test/support/git-backend.ts";
import { GitRepo } from "../test/support/git-repo.ts";
import { addTenant, CHUNKS } from "../test/support/large-database.ts";
import { MemoryBucket, Pipeline } from "../test/support/pipeline.ts";
import { servePostgres, startPostgres } from "../test/support/postgres-server.ts";
import { timed } from "./support.ts";

const TENANTS = 10;
/** Share of the vectors that no chunk has. */
const ORPHANS = 0.1;
const SWEEP_MS = 60_000;
const SWEEP_PAGE_MS = 1_000;
const ERASE_PAGE_MS = 5_000;
/** Rows of a tenant in the small tables. */
const OTHERS = 100;

export async function run(args: string[]): Promise<void> {
  const options = {
    vectors: { type: "string", default: "1000000" },
    chunks: { type: "string", default: "350000" },
  } as const;
  const { values } = parseArgs({ args, options });
  const [vectors, chunks] = [Number(values.vectors), Number(values.chunks)];
  const server = await startPostgres();
  const database = await servePostgres(server);
  // An endpoint of its own, whose requests are timed.
  const endpoint = await connectServer(database.url);
  const requests = timeRequests(new URL(endpoint.url).host);
  const db = openDb(endpoint.url);
  const client = new Client(database.url);
  await client.connect();
  const missed: string[] = [];
  const check = (what: string, value: number, limit: number) => {
    console.log(`${what}: ${Math.round(value)} (limit ${limit})`);
    if (value > limit) missed.push(what);
  };
  try {
    const orphans = Math.round((vectors / TENANTS) * ORPHANS);
    const contents = Math.round((vectors / TENANTS - orphans) / CHUNKS);
    for (let n = 0; n < TENANTS; n++) {
      // Half of the tenants are newer than the statistics.
      if (n === TENANTS / 2) await client.query("vacuum analyze");
      const { tenantId } = await addTenant((statement) => client.query(statement), contents, OTHERS);
      await client.query(`insert into vectors (tenant_id, fingerprint, chunk_hash, vector, used_on)
        select '${tenantId}', 'f', sha256(('orphan ' || n)::bytea), '\\x003c003c', current_date - 5 from generate_series(1, ${orphans}) n`);
    }
    const swept = await timed(() => sweepIndex(db, new MemoryBucket(), Date.now()));
    const pages = requests.take();
    console.log(
      `${vectors} vectors of ${TENANTS} tenants, ${swept.value.vectors} of them removed in ${pages.length} requests`,
    );
    if (swept.value.vectors !== orphans * TENANTS) missed.push("number of removed vectors");
    check("sweep, ms", swept.ms, SWEEP_MS);
    check("longest request of the sweep, ms", Math.max(...pages), SWEEP_PAGE_MS);

    const { tenantId } = await addTenant((statement) => client.query(statement), Math.round(chunks / CHUNKS), OTHERS);
    const beside = await runsBeside(database.neonUrl);
    const erased = await timed(() => eraseTenant(db, tenantId));
    const runs = await beside.end();
    const parts = requests.take();
    const { rows } = await client.query(
      `select (select count(*) from tenants where id = '${tenantId}')::int + (select count(*) from contents where tenant_id = '${tenantId}')::int
        + (select count(*) from vectors where tenant_id = '${tenantId}')::int as left`,
    );
    console.log(
      `${chunks} chunks erased in ${parts.length} requests and ${Math.round(erased.ms)} ms beside ${runs.succeeded} runs`,
    );
    check("longest request of the erasure, ms", Math.max(...parts), ERASE_PAGE_MS);
    check("rows left of the tenant", (rows[0] as { left: number }).left, 0);
    check("runs that did not succeed", runs.failed, 0);
    if (runs.succeeded === 0) missed.push("runs beside the erasure");
  } finally {
    await client.end();
    await endpoint.close();
    await database.close();
    await server.close();
  }
  if (missed.length > 0) throw new Error(`missed: ${missed.join(", ")}`);
}

/** Notes how long each request to an endpoint takes, in milliseconds. */
function timeRequests(host: string): { take(): number[] } {
  const send = neonConfig.fetchFunction as (input: unknown, init: RequestInit) => Promise<Response>;
  let noted: number[] = [];
  neonConfig.fetchFunction = async (input: unknown, init: RequestInit) => {
    const connection = new Headers(init.headers).get("neon-connection-string");
    if (connection === null || new URL(connection).host !== host) return send(input, init);
    const { ms, value } = await timed(() => send(input, init));
    noted.push(ms);
    return value;
  };
  return {
    take: () => {
      const taken = noted;
      noted = [];
      return taken;
    },
  };
}

/** Indexes a small repository of another tenant again and again, each time with changes, until it is told to end. */
async function runsBeside(databaseUrl: string): Promise<{ end(): Promise<{ succeeded: number; failed: number }> }> {
  const repo = new GitRepo();
  const git = await startGitBackend(repo.root);
  const pipeline = await new Pipeline(databaseUrl).prepare();
  const count = { succeeded: 0, failed: 0 };
  const end = new AbortController();
  const work = (async () => {
    for (let n = 0; !end.signal.aborted; n++) {
      for (let file = 0; file < 20; file++)
        repo.write(`src/${file}.ts`, `export function leaf${n}of${file}() { return ${n}; }\n`);
      repo.commit(`change ${n}`);
      const { state } = await pipeline.run({ url: git.url("repo") }).catch(() => ({ state: "failed" }));
      count[state === "succeeded" ? "succeeded" : "failed"]++;
    }
  })();
  return {
    end: async () => {
      end.abort();
      await work;
      await git.close();
      repo.remove();
      return count;
    },
  };
}
