// oxlint-disable-next-line no-restricted-imports -- a Durable Object; the rest of the folder is platform-free
import { DurableObject } from "cloudflare:workers";
import { createLogger } from "../../lib/log.ts";
import { createTables, type ObjectTables, openTables } from "../../lib/object-tables.ts";
import { grantSlots } from "./fair-share.ts";
import { coordinatorOf } from "./coordinator.ts";

/** How often slots are checked against the coordinators, in case the release of one was lost. */
const AUDIT_MS = 15_000;

const TABLES: ObjectTables = {
  object: "TenantRuns",
  create:
    "create table line (position integer primary key autoincrement, run_id text unique, workspace_id text, granted integer);",
  upgrades: [],
  readableFrom: 1,
  unversioned: (has) => (has("line") ? 1 : 0),
};

/**
 * The waiting line of one tenant's runs: at most `MAX_WORKING_RUNS` have a slot; the others are granted theirs in order of
 * arrival.
 */
export class TenantRuns extends DurableObject<ApiEnv> {
  readonly #sql: SqlStorage;
  readonly #log = createLogger({ worker: "api", object: "TenantRuns" });

  constructor(ctx: DurableObjectState, env: ApiEnv) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    if (!openTables(ctx.storage, TABLES)) createTables(ctx.storage, TABLES);
  }

  /** Requests a slot. False: the run waits in line, and its coordinator is notified when the slot is granted. Idempotent. */
  async request(runId: string, workspaceId: string): Promise<boolean> {
    this.#sql.exec("insert or ignore into line (run_id, workspace_id, granted) values (?, ?, 0)", runId, workspaceId);
    const others = this.#grant().filter((entry) => entry.runId !== runId);
    this.ctx.waitUntil(this.#notify(others));
    await this.#scheduleAudit();
    return this.#entries("run_id = ? and granted = 1", runId).length > 0;
  }

  /** Releases a slot, or a place in the line. */
  async release(runId: string): Promise<void> {
    this.#sql.exec("delete from line where run_id = ?", runId);
    this.ctx.waitUntil(this.#notify(this.#grant()));
  }

  /** Drops runs that ended without releasing their slot, and notifies the holders of slots again. */
  override async alarm(): Promise<void> {
    for (const entry of this.#entries("granted = 1")) {
      try {
        if (!(await this.#coordinator(entry).isUnfinished(entry.runId))) {
          this.#sql.exec("delete from line where run_id = ?", entry.runId);
        }
      } catch (error) {
        this.#log.error("slot_not_checked", error, { runId: entry.runId });
      }
    }
    this.#grant();
    await this.#notify(this.#entries("granted = 1"));
    await this.#scheduleAudit();
  }

  /** Grants the free slots; returns the runs that got one. */
  #grant(): LineEntry[] {
    const line = this.#entries("1 = 1");
    const granted = new Set(
      grantSlots(line.map(({ runId, slot }) => ({ runId, granted: slot === 1 }))).map((run) => run.runId),
    );
    const next = line.filter(({ runId }) => granted.has(runId));
    for (const { runId } of next) this.#sql.exec("update line set granted = 1 where run_id = ?", runId);
    return next;
  }

  async #notify(entries: readonly LineEntry[]): Promise<void> {
    await Promise.all(
      entries.map(async (entry) => {
        try {
          await this.#coordinator(entry).slotGranted();
        } catch (error) {
          // The coordinator requests the slot again.
          this.#log.error("slot_grant_not_delivered", error, { runId: entry.runId });
        }
      }),
    );
  }

  async #scheduleAudit(): Promise<void> {
    if (this.#entries("1 = 1").length > 0 && (await this.ctx.storage.getAlarm()) === null) {
      await this.ctx.storage.setAlarm(Date.now() + AUDIT_MS);
    }
  }

  #coordinator(entry: LineEntry) {
    return coordinatorOf(this.env.WORKSPACE_RUNS, entry.workspaceId);
  }

  #entries(condition: string, ...bindings: string[]): LineEntry[] {
    return this.#sql
      .exec<LineEntry>(
        `select run_id as runId, workspace_id as workspaceId, granted as slot from line where ${condition} order by position`,
        ...bindings,
      )
      .toArray();
  }
}

interface LineEntry extends Record<string, SqlStorageValue> {
  runId: string;
  workspaceId: string;
  /** 1 if the run has a slot. */
  slot: number;
}

/** RPC interface of a tenant's line, as used by the coordinators. */
export interface TenantLine {
  request(runId: string, workspaceId: string): Promise<boolean>;
  release(runId: string): Promise<void>;
}
