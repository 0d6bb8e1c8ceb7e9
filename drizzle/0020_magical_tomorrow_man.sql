ALTER TABLE "tenants" ADD COLUMN "run_days" integer DEFAULT 90 NOT NULL;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "audit_days" integer DEFAULT 365 NOT NULL;--> statement-breakpoint
CREATE INDEX "tenants_short_retention" ON "tenants" USING btree ("id") WHERE "tenants"."run_days" < 90 or "tenants"."audit_days" < 365;