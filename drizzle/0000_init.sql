CREATE TABLE "audit_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"event" text NOT NULL,
	"actor" text NOT NULL,
	"dedupe_key" text NOT NULL,
	"details" jsonb NOT NULL,
	CONSTRAINT "audit_events_dedupe" UNIQUE("tenant_id","dedupe_key")
);
--> statement-breakpoint
CREATE TABLE "chunks" (
	"content_id" uuid NOT NULL,
	"ordinal" integer NOT NULL,
	"hash" "bytea" NOT NULL,
	"context" text NOT NULL,
	"text" text NOT NULL,
	"symbol" integer,
	"start_line" integer NOT NULL,
	"end_line" integer NOT NULL,
	"start_byte" integer NOT NULL,
	"end_byte" integer NOT NULL,
	"withheld" boolean NOT NULL,
	CONSTRAINT "chunks_content_id_ordinal_pk" PRIMARY KEY("content_id","ordinal"),
	CONSTRAINT "chunks_withheld" CHECK (not "chunks"."withheld" or "chunks"."text" = '')
);
--> statement-breakpoint
CREATE TABLE "contents" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"sha256" "bytea" NOT NULL,
	"language" text NOT NULL,
	"parser_version" smallint NOT NULL,
	"size_bytes" integer NOT NULL,
	"line_count" integer NOT NULL,
	"symbol_count" integer NOT NULL,
	"chunk_count" integer NOT NULL,
	"redacted_count" integer NOT NULL,
	"outcome" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "contents_key" UNIQUE("tenant_id","sha256","language","parser_version")
);
--> statement-breakpoint
CREATE TABLE "credentials" (
	"id" text PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"secret_hash" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "credentials_kind" CHECK ("credentials"."kind" in ('api_key', 'worker_token')),
	CONSTRAINT "credentials_secret_hash" CHECK (octet_length("credentials"."secret_hash") = 32)
);
--> statement-breakpoint
CREATE TABLE "git_blobs" (
	"tenant_id" uuid NOT NULL,
	"oid" "bytea" NOT NULL,
	"sha256" "bytea",
	"size_bytes" bigint NOT NULL,
	"skip" text,
	"parser_version" smallint NOT NULL,
	CONSTRAINT "git_blobs_tenant_id_oid_pk" PRIMARY KEY("tenant_id","oid"),
	CONSTRAINT "git_blobs_known" CHECK (("git_blobs"."sha256" is null) = ("git_blobs"."skip" is not null))
);
--> statement-breakpoint
CREATE TABLE "revision_files" (
	"workspace_id" uuid NOT NULL,
	"path" text collate "C" NOT NULL,
	"from_seq" integer NOT NULL,
	"to_seq" integer,
	"content_id" uuid NOT NULL,
	"git_oid" "bytea" NOT NULL,
	"mode" integer NOT NULL,
	CONSTRAINT "revision_files_workspace_id_path_from_seq_pk" PRIMARY KEY("workspace_id","path","from_seq"),
	CONSTRAINT "revision_files_range" CHECK ("revision_files"."to_seq" is null or "revision_files"."to_seq" > "revision_files"."from_seq")
);
--> statement-breakpoint
CREATE TABLE "revisions" (
	"workspace_id" uuid NOT NULL,
	"seq" integer NOT NULL,
	"run_id" uuid NOT NULL,
	"git_sha" text NOT NULL,
	"root_tree" text NOT NULL,
	"plan_key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"dimension" integer NOT NULL,
	"file_count" integer NOT NULL,
	"symbol_count" integer NOT NULL,
	"chunk_count" integer NOT NULL,
	"stats" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "revisions_workspace_id_seq_pk" PRIMARY KEY("workspace_id","seq")
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"request" jsonb NOT NULL,
	"result" jsonb,
	"error" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp with time zone,
	CONSTRAINT "runs_state" CHECK ("runs"."state" in ('queued', 'running', 'succeeded', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "snapshots" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"state" text NOT NULL,
	"git_sha" text NOT NULL,
	"storage_path" text NOT NULL,
	"checksum" text NOT NULL,
	"size_bytes" bigint,
	"fingerprint" text NOT NULL,
	"manifest" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"url_expires_at" timestamp with time zone,
	"committed_at" timestamp with time zone,
	CONSTRAINT "snapshots_storage_path_unique" UNIQUE("storage_path"),
	CONSTRAINT "snapshots_state" CHECK ("snapshots"."state" in ('pending', 'committed', 'deleted'))
);
--> statement-breakpoint
CREATE TABLE "symbols" (
	"content_id" uuid NOT NULL,
	"ordinal" integer NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"qualified_name" text NOT NULL,
	"signature" text NOT NULL,
	"doc" text,
	"parent" integer,
	"start_line" integer NOT NULL,
	"end_line" integer NOT NULL,
	"start_byte" integer NOT NULL,
	"end_byte" integer NOT NULL,
	CONSTRAINT "symbols_content_id_ordinal_pk" PRIMARY KEY("content_id","ordinal")
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"monthly_credits" integer DEFAULT 10000 NOT NULL,
	"shared_index" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tenants_monthly_credits" CHECK ("tenants"."monthly_credits" >= 0)
);
--> statement-breakpoint
CREATE TABLE "usage_months" (
	"tenant_id" uuid NOT NULL,
	"period" text NOT NULL,
	"flush_seq" bigint NOT NULL,
	"credits" bigint NOT NULL,
	"embed_tokens" bigint NOT NULL,
	"rerank_tokens" bigint NOT NULL,
	"index_tokens" bigint NOT NULL,
	"calls" jsonb NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "usage_months_tenant_id_period_pk" PRIMARY KEY("tenant_id","period")
);
--> statement-breakpoint
CREATE TABLE "vectors" (
	"tenant_id" uuid NOT NULL,
	"fingerprint" text NOT NULL,
	"chunk_hash" "bytea" NOT NULL,
	"vector" "bytea" NOT NULL,
	"used_on" date DEFAULT current_date NOT NULL,
	CONSTRAINT "vectors_tenant_id_fingerprint_chunk_hash_pk" PRIMARY KEY("tenant_id","fingerprint","chunk_hash")
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"repo" text,
	"default_branch" text,
	"current_seq" integer,
	"current_snapshot_id" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "workspaces_tenant_repo" UNIQUE("tenant_id","repo")
);
--> statement-breakpoint
ALTER TABLE "audit_events" ADD CONSTRAINT "audit_events_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chunks" ADD CONSTRAINT "chunks_content_id_contents_id_fk" FOREIGN KEY ("content_id") REFERENCES "public"."contents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contents" ADD CONSTRAINT "contents_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "git_blobs" ADD CONSTRAINT "git_blobs_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "revision_files" ADD CONSTRAINT "revision_files_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "revision_files" ADD CONSTRAINT "revision_files_content_id_contents_id_fk" FOREIGN KEY ("content_id") REFERENCES "public"."contents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "revisions" ADD CONSTRAINT "revisions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "symbols" ADD CONSTRAINT "symbols_content_id_contents_id_fk" FOREIGN KEY ("content_id") REFERENCES "public"."contents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_months" ADD CONSTRAINT "usage_months_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vectors" ADD CONSTRAINT "vectors_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_current_revision" FOREIGN KEY ("id","current_seq") REFERENCES "public"."revisions"("workspace_id","seq") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_current_snapshot" FOREIGN KEY ("current_snapshot_id") REFERENCES "public"."snapshots"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_events_tenant_at" ON "audit_events" USING btree ("tenant_id","at");--> statement-breakpoint
CREATE INDEX "credentials_tenant" ON "credentials" USING btree ("tenant_id");--> statement-breakpoint
CREATE UNIQUE INDEX "revision_files_open" ON "revision_files" USING btree ("workspace_id","path") WHERE "revision_files"."to_seq" is null;--> statement-breakpoint
CREATE INDEX "revision_files_content" ON "revision_files" USING btree ("content_id");--> statement-breakpoint
CREATE INDEX "revisions_sha" ON "revisions" USING btree ("workspace_id","git_sha");--> statement-breakpoint
CREATE INDEX "runs_workspace" ON "runs" USING btree ("workspace_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "runs_one_snapshot_job" ON "runs" USING btree ("tenant_id") WHERE "runs"."kind" = 'snapshot' and "runs"."state" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "snapshots_workspace" ON "snapshots" USING btree ("workspace_id","state","committed_at");