CREATE TABLE "overlays" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"credential_id" text NOT NULL,
	"seq" integer NOT NULL,
	"edited_seq" integer NOT NULL,
	"state" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "overlays_revision" UNIQUE("workspace_id","seq"),
	CONSTRAINT "overlays_state" CHECK ("overlays"."state" in ('pending', 'ready', 'failed'))
);
--> statement-breakpoint
ALTER TABLE "overlays" ADD CONSTRAINT "overlays_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "overlays" ADD CONSTRAINT "overlays_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "overlays_expiry" ON "overlays" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "overlays_tenant" ON "overlays" USING btree ("tenant_id","expires_at");