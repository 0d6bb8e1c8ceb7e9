CREATE TABLE "notices" (
	"tenant_id" uuid NOT NULL,
	"subject" text NOT NULL,
	"run_id" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "notices_tenant_id_subject_pk" PRIMARY KEY("tenant_id","subject")
);
--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "mail_quota" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "mail_runs" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "notices" ADD CONSTRAINT "notices_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notices" ADD CONSTRAINT "notices_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "notices_run" ON "notices" USING btree ("run_id") WHERE "notices"."run_id" is not null;--> statement-breakpoint
CREATE INDEX "usage_months_period" ON "usage_months" USING btree ("period","tenant_id");--> statement-breakpoint
CREATE INDEX "runs_failed" ON "runs" USING btree ("finished_at") WHERE "runs"."state" = 'failed';