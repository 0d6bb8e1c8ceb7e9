CREATE TABLE "revision_overlays" (
	"workspace_id" uuid NOT NULL,
	"seq" integer NOT NULL,
	"path" text collate "C" NOT NULL,
	"content_id" uuid,
	"git_oid" "bytea",
	"mode" integer,
	CONSTRAINT "revision_overlays_workspace_id_seq_path_pk" PRIMARY KEY("workspace_id","seq","path"),
	CONSTRAINT "revision_overlays_file" CHECK (("revision_overlays"."content_id" is null) = ("revision_overlays"."mode" is null))
);
--> statement-breakpoint
CREATE TABLE "revision_refs" (
	"workspace_id" uuid NOT NULL,
	"ref" text NOT NULL,
	"seq" integer NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "revision_refs_workspace_id_ref_pk" PRIMARY KEY("workspace_id","ref")
);
--> statement-breakpoint
ALTER TABLE "git_blobs" ADD COLUMN "interpreter" text;--> statement-breakpoint
ALTER TABLE "git_blobs" ADD COLUMN "seen_on" date DEFAULT current_date NOT NULL;--> statement-breakpoint
ALTER TABLE "revisions" ADD COLUMN "base_seq" integer;--> statement-breakpoint
ALTER TABLE "revision_overlays" ADD CONSTRAINT "revision_overlays_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "revision_overlays" ADD CONSTRAINT "revision_overlays_content_id_contents_id_fk" FOREIGN KEY ("content_id") REFERENCES "public"."contents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "revision_refs" ADD CONSTRAINT "revision_refs_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "revision_refs" ADD CONSTRAINT "revision_refs_revision" FOREIGN KEY ("workspace_id","seq") REFERENCES "public"."revisions"("workspace_id","seq") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "revision_overlays_content" ON "revision_overlays" USING btree ("content_id");--> statement-breakpoint
CREATE INDEX "revision_refs_seq" ON "revision_refs" USING btree ("workspace_id","seq");--> statement-breakpoint
CREATE INDEX "audit_events_at" ON "audit_events" USING btree ("at");--> statement-breakpoint
CREATE INDEX "chunks_hash" ON "chunks" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "git_blobs_seen" ON "git_blobs" USING btree ("seen_on");--> statement-breakpoint
CREATE INDEX "revision_files_from" ON "revision_files" USING btree ("workspace_id","from_seq");--> statement-breakpoint
CREATE INDEX "revision_files_to" ON "revision_files" USING btree ("workspace_id","to_seq") WHERE "revision_files"."to_seq" is not null;--> statement-breakpoint
CREATE INDEX "revisions_base" ON "revisions" USING btree ("workspace_id","base_seq");--> statement-breakpoint
CREATE INDEX "revisions_run" ON "revisions" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "runs_unfinished" ON "runs" USING btree ("created_at") WHERE "runs"."state" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "runs_finished" ON "runs" USING btree ("finished_at") WHERE "runs"."finished_at" is not null;