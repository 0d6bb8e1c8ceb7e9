CREATE TABLE "github_apps" (
	"id" text PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"origin" text NOT NULL,
	"app_id" bigint NOT NULL,
	"name" text NOT NULL,
	"owner" text NOT NULL,
	"page_url" text NOT NULL,
	"sealed_secret" text NOT NULL,
	"rejected_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "hooks" ADD COLUMN "app_id" text;--> statement-breakpoint
ALTER TABLE "repository_sources" ADD COLUMN "app_id" text;--> statement-breakpoint
ALTER TABLE "repository_sources" ADD COLUMN "installation_id" bigint;--> statement-breakpoint
ALTER TABLE "repository_sources" ADD COLUMN "repository_id" bigint;--> statement-breakpoint
ALTER TABLE "repository_sources" ADD COLUMN "access_lost" text;--> statement-breakpoint
ALTER TABLE "github_apps" ADD CONSTRAINT "github_apps_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "github_apps_tenant" ON "github_apps" USING btree ("tenant_id","created_at");--> statement-breakpoint
ALTER TABLE "hooks" ADD CONSTRAINT "hooks_app_id_github_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."github_apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository_sources" ADD CONSTRAINT "repository_sources_app_id_github_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."github_apps"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "hooks_app" ON "hooks" USING btree ("app_id") WHERE "hooks"."app_id" is not null;--> statement-breakpoint
CREATE INDEX "repository_sources_app" ON "repository_sources" USING btree ("app_id","repository_id") WHERE "repository_sources"."app_id" is not null;