/** The tables of the gate's Durable Objects, and the upgrades of those that earlier commits wrote. */
import type { ObjectTables } from "../../lib/object-tables.ts";
import { CREDENTIALS_SCHEMA } from "./credential-cache.ts";
import { CREDITS_SCHEMA } from "./credits.ts";
import { KEY_USAGE_SCHEMA } from "./key-usage.ts";
import { WINDOWS_SCHEMA } from "./windows.ts";

export const RATE_BUCKET_TABLES: ObjectTables = {
  object: "RateBucket",
  create: WINDOWS_SCHEMA,
  upgrades: [],
  readableFrom: 1,
  unversioned: (has) => (has("windows") ? 1 : 0),
};

/** Settled reservations in rows of their own (from 2535ac9). */
const TO_2 = "create table settled (until_ms integer not null, ids text not null);";

/**
 * A column for each counter, and usage by credential (from 6e03b9f). Reservations did not name their credential: what is still
 * open is settled under the name `unknown`. `settled.ids` is a JSON array of [id, month, deadline, credits charged]. The
 * credentials in `meta` are dropped; they are read from Postgres again.
 */
const TO_3 = `
alter table windows rename to windows_2;
create table windows (
  surface text not null, start_ms integer not null, end_ms integer not null, used integer not null,
  rejected integer not null, first_rejected_ms integer, tenant_id text, actor text, reported integer not null,
  primary key (surface, start_ms)
) without rowid;
insert into windows (surface, start_ms, end_ms, used, rejected, first_rejected_ms, tenant_id, actor, reported)
  select surface, start_ms, start_ms + window_sec * 1000, used, rejected, iif(rejected > 0, start_ms, null),
    iif(rejected > 0, (select value from meta where key = 'tenant'), null), iif(rejected > 0, actor, null), reported
  from windows_2;
drop table windows_2;

alter table months rename to months_2;
create table months (
  period text primary key, version integer not null, flushed_version integer not null, seeded integer not null,
  credits integer not null, embed_tokens integer not null, rerank_tokens integer not null, index_tokens integer not null,
  embed_calls integer not null, rerank_calls integer not null, index_calls integer not null,
  snapshot_calls integer not null, search_calls integer not null
) without rowid;
insert into months (period, version, flushed_version, seeded, credits, embed_tokens, rerank_tokens, index_tokens,
    embed_calls, rerank_calls, index_calls, snapshot_calls, search_calls)
  select period, version, flushed_version, seeded, credits, embed_tokens, rerank_tokens, index_tokens,
    coalesce(calls ->> 'embed', 0), coalesce(calls ->> 'rerank', 0), coalesce(calls ->> 'index', 0),
    coalesce(calls ->> 'snapshot', 0), coalesce(calls ->> 'search', 0)
  from months_2;
drop table months_2;

alter table reservations rename to reservations_2;
create table reservations (
  id text primary key, credential_id text not null, period text not null, credits integer not null,
  deadline_ms integer not null, charged integer
) without rowid;
create index reservations_open on reservations (deadline_ms) where charged is null;
insert into reservations (id, credential_id, period, credits, deadline_ms, charged)
  select id, 'unknown', period, credits, deadline_ms, iif(state = 'settled', charged, null) from reservations_2;
insert or ignore into reservations (id, credential_id, period, credits, deadline_ms, charged)
  select item.value ->> 0, 'unknown', item.value ->> 1, 0, item.value ->> 2, item.value ->> 3
  from settled, json_each(settled.ids) as item;
drop table reservations_2;
drop table settled;

alter table counted rename to counted_2;
create table counted (key text primary key, at_ms integer not null) without rowid;
insert or ignore into counted (key, at_ms) select key, day * 86400000 from counted_2;
drop table counted_2;

create table key_days (
  credential_id text not null, day text not null, calls integer not null, credits integer not null,
  tokens integer not null, last_used_ms integer not null, version integer not null, flushed_version integer not null,
  primary key (credential_id, day)
) without rowid;
create table credentials (id text primary key, facts text not null, checked_at_ms integer not null) without rowid;
delete from meta where key = 'directory';
`;

/** Budgets of narrow credentials. An earlier release neither admits such credentials nor reads these. */
const TO_4 = `
alter table reservations add column budgets text;
create table budgets (
  credential_id text not null, period text not null, credits integer not null, primary key (credential_id, period)
) without rowid;
`;

export const TENANT_GATE_TABLES: ObjectTables = {
  object: "TenantGate",
  create: `create table meta (key text primary key, value text not null) without rowid;
${WINDOWS_SCHEMA}${CREDITS_SCHEMA}${KEY_USAGE_SCHEMA}${CREDENTIALS_SCHEMA}`,
  upgrades: [TO_2, TO_3, TO_4],
  readableFrom: 3,
  unversioned: (has) => (has("windows", "end_ms") ? 3 : has("settled") ? 2 : has("meta") ? 1 : 0),
};
