/**
 * Query plans of the statements that real code sends: every statement is explained on the database it goes to, with its parameters,
 * before it runs; of one that a call sends again and again, page by page, the 1st, 2nd, 4th, 8th and so on. A plan is judged by the rows
 * that it reads, not by time.
 */
import { globSync, readFileSync } from "node:fs";
import { neon, neonConfig, type NeonQueryFunction } from "@neondatabase/serverless";
import { type Db, openDb } from "../../src/service/db/client.ts";
import { PROJECT_ROOT } from "../../src/tooling/local/project.ts";

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  "Rows Removed by Join Filter"?: number;
  Plans?: PlanNode[];
}

/** A statement that was sent, and how many rows its scans and joins have looked at. */
export interface Explained {
  statement: string;
  rows: number;
  /** One line a node. */
  plan: string;
}

/** Explains a statement with what it really reads, and undoes what it does. */
const FUNCTION = `create function explained(statement text) returns json language plpgsql as $$
  declare plan json;
  begin
    begin
      execute 'explain (analyze, timing off, format json) ' || statement into plan;
      raise exception using errcode = 'PLAN1';
    exception when sqlstate 'PLAN1' then null;
    end;
    return plan;
  end $$`;

interface Query {
  query: string;
  params?: (string | null)[];
}

/** A statement with its parameters as literals, which PostgreSQL types as it types parameters. */
const inlined = ({ query, params = [] }: Query) =>
  query.replaceAll(/\$(\d+)/g, (_all, n: string) => {
    const value = params[Number(n) - 1];
    return value === null || value === undefined ? "null" : `'${value.replaceAll("'", "''")}'`;
  });

/** Watches the statements of a database that has the tables. */
export class PlanWatcher implements Disposable {
  readonly db: Db;
  /** Places in `src` from which a statement was sent, as `path:line`. */
  readonly sites = new Set<string>();
  #seen: Explained[] | undefined;
  /** How often the current call has sent a statement, by its text without parameters. */
  readonly #sent = new Map<string, number>();
  readonly #restore: () => void;

  private constructor(url: string, restore: () => void) {
    this.db = noted(openDb(url), this.sites);
    this.#restore = restore;
  }

  /** Looks at what the driver sends, of all databases of this process, until the watcher is disposed of. */
  static async open(url: string): Promise<PlanWatcher> {
    await neon(url).query(FUNCTION);
    const send = neonConfig.fetchFunction as (input: unknown, init: RequestInit) => Promise<Response>;
    const watcher = new PlanWatcher(url, () => (neonConfig.fetchFunction = send));
    const explainer = neon(url);
    let nested = false;
    neonConfig.fetchFunction = async (input: unknown, init: RequestInit) => {
      const seen = watcher.#seen;
      const connection = new Headers(init.headers).get("neon-connection-string");
      if (seen === undefined || nested || connection === null || new URL(connection).host !== new URL(url).host)
        return send(input, init);
      const body = JSON.parse(init.body as string) as Query | { queries: Query[] };
      nested = true;
      try {
        for (const query of "queries" in body ? body.queries : [body])
          if (watcher.#isDue(query.query)) seen.push(await explain(explainer, inlined(query)));
      } finally {
        nested = false;
      }
      return send(input, init);
    };
    return watcher;
  }

  [Symbol.dispose](): void {
    this.#restore();
  }

  /** Notes that a statement is sent; whether it is to be explained, which runs it once more. */
  #isDue(text: string): boolean {
    const times = (this.#sent.get(text) ?? 0) + 1;
    this.#sent.set(text, times);
    return Number.isInteger(Math.log2(times));
  }

  /** The plans of what a call sends, one request after another. */
  async during(call: (db: Db) => Promise<unknown>): Promise<Explained[]> {
    const seen: Explained[] = [];
    this.#seen = seen;
    this.#sent.clear();
    try {
      await call(this.db);
    } finally {
      this.#seen = undefined;
    }
    return seen;
  }
}

async function explain(sql: NeonQueryFunction<false, false>, statement: string): Promise<Explained> {
  let rows: Record<string, unknown>[];
  try {
    rows = (await sql.query("select explained($1) as plan", [statement])) as Record<string, unknown>[];
  } catch {
    // A later statement of a transaction may need what an earlier one writes: its plan without running it.
    rows = (await sql.query(`explain (format json) ${statement}`)) as Record<string, unknown>[];
  }
  const found = Object.values(rows[0] ?? {})[0];
  const [{ Plan: root }] = (typeof found === "string" ? JSON.parse(found) : found) as [{ Plan: PlanNode }];
  const lines: string[] = [];
  let total = 0;
  const visit = (node: PlanNode, depth: number) => {
    const loops = node["Actual Loops"] ?? 0;
    const removed =
      (node["Rows Removed by Filter"] ?? 0) +
      (node["Rows Removed by Index Recheck"] ?? 0) +
      (node["Rows Removed by Join Filter"] ?? 0);
    // What a scan returns and drops, and the pairs that a join compares.
    const looked = Math.round(
      (removed + (node["Relation Name"] === undefined ? 0 : (node["Actual Rows"] ?? 0))) * loops,
    );
    total += looked;
    lines.push(`${"  ".repeat(depth)}${node["Node Type"]} ${node["Relation Name"] ?? ""} ${looked}`);
    for (const child of node.Plans ?? []) visit(child, depth + 1);
  };
  visit(root, 0);
  return { statement, rows: total, plan: lines.join("\n") };
}

const METHODS = new Set(["execute", "select", "selectDistinct", "selectDistinctOn", "insert", "update", "delete"]);
const HELPER = "src/service/db/rows.ts";

/** A database that notes from where in `src` its methods are called. */
function noted(db: Db, sites: Set<string>): Db {
  return new Proxy(db, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== "function" || !METHODS.has(String(name))) return value;
      return (...args: unknown[]) => {
        const site = callSite();
        if (site !== undefined) sites.add(site);
        return (value as (...given: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}

function callSite(): string | undefined {
  const frames = new Error().stack?.split("\n") ?? [];
  for (const frame of frames) {
    const match = /(src\/[\w./-]+\.tsx?):(\d+):\d+/.exec(frame);
    if (match && match[1] !== HELPER) return `${match[1]}:${match[2]}`;
  }
  return undefined;
}

const STATEMENT =
  /\browsOf\s*<|\browsOf\(|(?<=\bdb\s*\.\s*)(?:execute|select|selectDistinct|selectDistinctOn|insert|update|delete)\b/g;

/** The places in some folders or files of `src` that send a statement, as `path:line`. */
export function statementSites(paths: readonly string[]): string[] {
  return globSync(
    paths.map((name) => (name.endsWith(".ts") ? name : `${name}/**/*.ts`)),
    { cwd: PROJECT_ROOT },
  )
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(`${PROJECT_ROOT}/${file}`, "utf8");
      return [...text.matchAll(STATEMENT)].map(({ index }) => `${file}:${text.slice(0, index).split("\n").length}`);
    });
}
